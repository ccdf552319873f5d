import { describe, expect, test } from '@jest/globals'
import { TDigest } from '@sluice/sketches'

// the exact cases of the reference implementation (tdunning/t-digest, MergingDigest)
describe.each(['k2', 'k1'] as const)('a t-digest of scale %s', (scale) => {
  const of = (...values: readonly number[]): TDigest => {
    const digest = new TDigest({ scale })
    for (const value of values) digest.add(value)
    return digest
  }
  const times = (count: number, value: number): number[] => Array.from({ length: count }, () => value)

  test('does not smear one outlier over its neighbours', () => {
    const digest = of(...Array.from({ length: 19 }, (_, n) => n + 1), 1_000_000)
    expect([0.89999999, 0.9, 0.949999999, 0.95].map((q) => digest.quantile(q))).toEqual([18, 19, 19, 1_000_000])
    expect([digest.cdf(19), digest.cdf(19.0000001)]).toEqual([0.925, 0.95])
  })

  test('returns the values themselves if there are few, each from its first rank on', () => {
    const digest = of(15, 20, 32, 60)
    expect([0.25, 0.25 - 1e-10, 0.4, 0.5].map((q) => digest.quantile(q))).toEqual([20, 15, 20, 32])
  })

  test('counts half of a value that equals the argument', () => {
    const digest = of(1, 2, 3)
    expect([1, 2, 3].map((x) => digest.cdf(x))).toEqual([0.5 / 3, 1.5 / 3, 2.5 / 3])
  })

  test('returns one of three latencies if the stream has only these three', () => {
    const digest = of(...times(2, 9_000), ...times(11, 3_000), ...times(26, 1_000))
    expect([0.9, 0.95].map((q) => digest.quantile(q))).toEqual([3_000, 9_000])
  })

  test('is the exact step function of 0 to 19', () => {
    const digest = of(...Array.from({ length: 20 }, (_, n) => n))
    expect(digest.centroids()).toEqual(Array.from({ length: 20 }, (_, n) => ({ mean: n, weight: 1 })))
    for (let at = 0; at < 1_000; at++) {
      const q = at / 1_000
      expect({ q, value: digest.quantile(q) }).toEqual({ q, value: Math.floor(q * 20) })
      const x = at / 40 - 1.01
      expect({ x, share: digest.cdf(x) }).toEqual({ x, share: Math.max(0, Math.min(20, Math.floor(x) + 1)) / 20 })
    }
    for (let x = 0; x < 20; x++) expect(digest.cdf(x)).toBe((x + 0.5) / 20)
  })

  test('returns NaN while it is empty', () => {
    const digest = of()
    expect([digest.quantile(0), digest.quantile(1), digest.cdf(0), digest.min, digest.max]).toEqual(
      times(5, Number.NaN),
    )
    expect([digest.count, digest.centroids()]).toEqual([0, []])
  })

  test('returns its only value for every share', () => {
    const digest = of(7)
    expect([0, 0.5, 1].map((q) => digest.quantile(q))).toEqual([7, 7, 7])
    expect([6.9, 7, 7.1].map((x) => digest.cdf(x))).toEqual([0, 0.5, 1])
  })

  test('keeps the last value separate, so that nothing is interpolated beyond the last centroid', () => {
    const digest = new TDigest({ scale, compression: 20 })
    for (let n = 0; n < 10_000; n++) digest.add(n % 1_000)
    digest.add(1e9)
    digest.compress()
    expect(digest.centroids().at(-1)).toEqual({ mean: 1e9, weight: 1 })
    expect(digest.quantile(1 - 1 / 10_001 + 1e-9)).toBe(1e9)
  })

  test('counts the values at both ends with their full weight', () => {
    const digest = new TDigest({ scale })
    digest.add(10, 3)
    digest.add(20)
    digest.add(40, 5)
    expect([0, 1.5, 2.9, 3.5, 4, 6.5, 9].map((rank) => digest.quantile(rank / 9))).toEqual([10, 10, 10, 20, 40, 40, 40])
  })
})
