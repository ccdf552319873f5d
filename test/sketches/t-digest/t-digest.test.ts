import { describe, expect, test } from '@jest/globals'
import { TDigest, type TDigestOptions } from '@sluice/sketches'
import { eachSeed } from '@sluice/testkit'
import fc from 'fast-check'
import { codeOf } from '../contract/sketch-contract.ts'

const finite = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
const weights = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 1_000_000 }))
const rows = fc.array(fc.tuple(finite, weights), { minLength: 1, maxLength: 150 })
const options = fc.record({ compression: fc.constantFrom(10, 20, 100), scale: fc.constantFrom('k1', 'k2') })

function digestOf(of: TDigestOptions, values: readonly (readonly [number, number])[]): TDigest {
  const digest = new TDigest(of)
  for (const [value, weight] of values) digest.add(value, weight)
  return digest
}

describe('a t-digest of any values', () => {
  test('has quantiles that rise with the share, from its minimum to its maximum', () => {
    fc.assert(
      fc.property(options, rows, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (of, values, drawn) => {
        const digest = digestOf(of, values)
        const quantiles = [0, ...drawn, 1].sort((a, b) => a - b).map((q) => digest.quantile(q))
        quantiles.forEach((value, at) => {
          expect(value).toBeGreaterThanOrEqual(quantiles[Math.max(0, at - 1)] ?? value)
        })
        const all = values.map(([value]) => value + 0)
        expect([digest.min, digest.max]).toEqual([Math.min(...all) + 0, Math.max(...all) + 0])
      }),
      { numRuns: 400 },
    )
  })

  test('has shares that rise with the value, from 0 to 1', () => {
    fc.assert(
      fc.property(options, rows, fc.array(finite), (of, values, drawn) => {
        const digest = digestOf(of, values)
        const asked = [...drawn, ...values.map(([value]) => value)].sort((a, b) => a - b)
        const shares = [-Infinity, ...asked, Infinity].map((x) => digest.cdf(x))
        shares.forEach((share, at) => {
          expect(share).toBeGreaterThanOrEqual(shares[Math.max(0, at - 1)] ?? 0)
        })
        expect([shares[0], shares.at(-1)]).toEqual([0, 1])
      }),
      { numRuns: 400 },
    )
  })

  test('maps a value to its share and back, if no value has a large weight', async () => {
    await eachSeed(5, (random) => {
      const digest = new TDigest()
      for (let n = 0; n < 20_000; n++) digest.add(random.next())
      for (let at = 0; at <= 200; at++) {
        const x = at / 200
        expect(Math.abs(digest.quantile(digest.cdf(x)) - x)).toBeLessThan(1e-3)
        expect(Math.abs(digest.cdf(digest.quantile(x)) - x)).toBeLessThan(1e-3)
      }
    })
  })

  test('gives the same later answers, whether or not it was queried before', async () => {
    await eachSeed(5, (random) => {
      const [asked, left] = [new TDigest({ compression: 20 }), new TDigest({ compression: 20 })]
      for (let n = 0; n < 3_000; n++) {
        const value = random.next()
        asked.add(value)
        left.add(value)
        if (random.whole(50) === 0) asked.quantile(random.next())
        if (random.whole(50) === 0) TDigest.fromBytes(asked.toBytes())
      }
      expect(asked.toBytes()).toEqual(left.toBytes())
      expect(asked.centroids()).toEqual(left.centroids())
    })
  })

  test('gives the same answers for any order of its buffered values', () => {
    fc.assert(
      fc.property(rows, (values) => {
        const backwards = values.slice().reverse()
        expect(digestOf({}, backwards).centroids()).toEqual(digestOf({}, values).centroids())
      }),
    )
  })

  test('gives the same answers before and after compression', () => {
    fc.assert(
      fc.property(options, rows, (of, values) => {
        const digest = digestOf(of, values)
        const before = digest.centroids()
        digest.compress()
        expect(digest.centroids()).toEqual(before)
        digest.compress()
        expect(digest.centroids()).toEqual(before)
      }),
    )
  })

  test('compresses from the upper end every other time, as it compresses the mirrored values from the lower end', () => {
    const values = Array.from({ length: 90 }, (_, n) => n * n + 1)
    const [upper, lower] = [new TDigest({ compression: 20 }), new TDigest({ compression: 20 })]
    upper.add(0)
    upper.compress()
    lower.add(0)
    for (const value of values) {
      upper.add(value)
      lower.add(-value)
    }
    const mirrored = lower.centroids().reverse()
    expect(upper.centroids()).toEqual(mirrored.map(({ mean, weight }) => ({ mean: 0 - mean, weight })))
    expect(mirrored.map(({ weight }) => weight)).not.toEqual(lower.centroids().map(({ weight }) => weight))
  })

  test('keeps numbers that are as far apart as possible', () => {
    const digest = new TDigest({ compression: 10 })
    const ends = [-Number.MAX_VALUE, Number.MAX_VALUE, 5e-324, -5e-324, 0, -0]
    for (let n = 0; n < 6_000; n++) digest.add(ends[n % ends.length] ?? 0)
    const quantiles = Array.from({ length: 101 }, (_, at) => digest.quantile(at / 100))
    expect(quantiles).toEqual(quantiles.slice().sort((a, b) => a - b))
    expect(quantiles.every(Number.isFinite)).toBe(true)
    const shares = [-Infinity, -1e308, -5e-324, 0, 5e-324, 1e308, Infinity].map((x) => digest.cdf(x))
    expect(shares).toEqual(shares.slice().sort((a, b) => a - b))
    expect([digest.min, digest.max, shares[0], shares[6]]).toEqual([-Number.MAX_VALUE, Number.MAX_VALUE, 0, 1])
  })

  test('does not distinguish the two zeros', () => {
    const digest = digestOf({}, [[-0, 1]])
    expect(Object.is(digest.quantile(0.5), 0)).toBe(true)
  })

  test('merges with itself: every value twice', () => {
    const digest = digestOf(
      { compression: 10 },
      Array.from({ length: 333 }, (_, n) => [n, 1 + (n % 3)]),
    )
    const { count } = digest
    digest.merge(digest)
    expect([digest.count, digest.min, digest.max]).toEqual([2 * count, 0, 332])
    expect(Math.abs(digest.quantile(0.5) - 166)).toBeLessThan(10)
  })
})

describe('a t-digest rejects', () => {
  const hostile = [Number.NaN, Infinity, -Infinity, '3', undefined, null, {}, 3n, Symbol('x')] as unknown as number[]

  test('values that are not finite numbers, and stays unchanged', () => {
    const digest = digestOf({}, [[1, 1]])
    const before = digest.toBytes()
    for (const value of hostile) expect(codeOf(() => digest.add(value))).toBe('SLUICE_BAD_AMOUNT')
    expect(digest.toBytes()).toEqual(before)
  })

  test('weights that are not integers from 1, and stays unchanged', () => {
    const digest = digestOf({}, [[1, 1]])
    const before = digest.toBytes()
    const wrong = [...hostile.filter((weight) => weight !== undefined), 0, -1, 0.5, 2 ** 53]
    for (const weight of wrong) expect(codeOf(() => digest.add(1, weight))).toBe('SLUICE_BAD_AMOUNT')
    expect(digest.toBytes()).toEqual(before)
  })

  test('a total above 2^53 - 1, by adding and by merging, and stays unchanged', () => {
    const digest = digestOf({}, [[1, Number.MAX_SAFE_INTEGER - 1]])
    const before = digest.toBytes()
    expect(codeOf(() => digest.add(2, 2))).toBe('SLUICE_BAD_AMOUNT')
    expect(codeOf(() => digest.merge(digest))).toBe('SLUICE_BAD_AMOUNT')
    expect(digest.toBytes()).toEqual(before)
    digest.add(2)
    expect(digest.count).toBe(Number.MAX_SAFE_INTEGER)
  })

  test('shares outside of 0 to 1, and values that are not numbers', () => {
    const digest = digestOf({}, [[1, 1]])
    for (const q of [...hostile, -0.01, 1.01]) expect(codeOf(() => digest.quantile(q))).toBe('SLUICE_BAD_AMOUNT')
    const noNumbers = hostile.filter((x) => x !== Infinity && x !== -Infinity)
    for (const x of noNumbers) expect(codeOf(() => digest.cdf(x))).toBe('SLUICE_BAD_AMOUNT')
  })

  test('unknown options', () => {
    const wrong = [
      null,
      3,
      { delta: 100 },
      ...[9, 1_001, 100.5, '100', Number.NaN].map((compression) => ({ compression })),
    ]
    for (const of of [...wrong, { scale: 'k3' }, { scale: '__proto__' }]) {
      expect(codeOf(() => new TDigest(of as TDigestOptions))).toBe('SLUICE_BAD_OPTION')
    }
  })

  test('bytes that no digest wrote: unsorted values, zero weights, invalid numbers', () => {
    const digest = digestOf(
      {},
      Array.from({ length: 20 }, (_, n) => [n, 1]),
    )
    digest.compress()
    const honest = digest.toBytes()
    const changed = (at: number, value: number): string => {
      const bytes = honest.slice()
      new DataView(bytes.buffer).setFloat64(64 + 8 * at, value, true)
      return codeOf(() => TDigest.fromBytes(bytes))
    }
    expect(changed(3, 3.5)).toBe('nothing')
    for (const value of [30, -1, Number.NaN, Infinity]) expect(changed(3, value)).toBe('SLUICE_BAD_BYTES')
    for (const weight of [0, -1, 0.5, Number.NaN, Infinity, 2 ** 53, Number.MAX_SAFE_INTEGER]) {
      expect(changed(20 + 3, weight)).toBe('SLUICE_BAD_BYTES')
    }
  })
})
