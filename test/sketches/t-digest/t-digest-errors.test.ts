import { describe, expect, test } from '@jest/globals'
import { TDigest } from '@sluice/sketches'
import { eachSeed, type SeededRandom, zipfKeys } from '@sluice/testkit'
import { rankError } from './rank-error.ts'

const LENGTH = 24_000
const PARTS = 12
const COMPRESSION = 100
const shares = [0.5, 0.9, 0.99, 0.999] as const
const scales = ['k2', 'k1'] as const

/** The documented error: at most the weight of one centroid at that rank, as a share of all ranks, plus one value. */
function statedError(scale: (typeof scales)[number], q: number, count: number): number {
  const z = 4 * Math.log(count / COMPRESSION) + 24
  const centroid =
    scale === 'k2' ? (z * q * (1 - q)) / COMPRESSION : 2 * Math.sin(Math.PI / COMPRESSION) * Math.sqrt(q * (1 - q))
  return centroid + 1 / count
}

/** Returns the largest error of the quantiles of `digest`, divided by the documented error. `sorted`: its stream. */
function worstError(digest: TDigest, sorted: Float64Array): number {
  return Math.max(...shares.map((q) => rankError(digest, sorted, q) / statedError(digest.scale, q, sorted.length)))
}

interface Stream {
  readonly name: string
  /**
   * The share of the documented error that the stream must stay within: all of it if the values were chosen to do harm.
   */
  readonly within: number
  open(random: SeededRandom): (n: number) => number
}

const streams: readonly Stream[] = [
  { name: 'uniform', within: 0.25, open: (random) => () => random.next() },
  { name: 'exponential', within: 0.25, open: (random) => () => -Math.log(1 - random.next()) },
  { name: 'Zipf', within: 0.5, open: (random) => zipfKeys(random, 100_000) },
  { name: 'sorted', within: 0.1, open: () => (n) => n },
  { name: 'sorted backwards', within: 0.1, open: () => (n) => LENGTH - n },
  { name: 'alternating outwards', within: 0.25, open: () => (n) => (n % 2 === 0 ? n : -n) },
  { name: 'alternating inwards', within: 1, open: () => (n) => (n % 2 === 0 ? 1 : -1) * (LENGTH - n) ** 3 },
  { name: 'two far humps', within: 0.25, open: (random) => () => random.next() + (random.next() < 0.1 ? 1e6 : 0) },
  { name: 'constant', within: 0, open: () => () => 5 },
]

describe.each(scales)('with scale %s and compression 100', (scale) => {
  test.each(streams)('quantiles stay within the documented error, merged or not: $name', async ({ open, within }) => {
    await eachSeed(2, (random) => {
      const next = open(random)
      const values = Float64Array.from({ length: LENGTH }, (_, n) => next(n))
      const whole = new TDigest({ scale })
      // of different lengths, from different parts of the stream
      const parts = Array.from({ length: PARTS }, () => new TDigest({ scale }))
      for (const [n, value] of values.entries()) {
        whole.add(value)
        parts[Math.floor(PARTS * (n / LENGTH) ** 2)]?.add(value)
      }
      const merged = new TDigest({ scale })
      for (const part of parts) merged.merge(part)
      const sorted = values.slice().sort()
      for (const digest of [whole, merged]) {
        expect(worstError(digest, sorted)).toBeLessThanOrEqual(within)
        expect([digest.count, digest.min, digest.max]).toEqual([LENGTH, sorted[0], sorted.at(-1)])
        expect(weighed(digest)).toBe(LENGTH)
        expect(digest.centroids().length).toBeLessThan(COMPRESSION)
      }
    })
  })

  test('two digests merged in either order agree within the documented error, and have the same weight', async () => {
    await eachSeed(10, (random) => {
      const [x, y] = [new TDigest({ scale }), new TDigest({ scale })]
      const values = Float64Array.from({ length: 20_000 }, () => random.next() ** 3)
      values.forEach((value, n) => {
        const part = n % 3 === 0 ? x : y
        part.add(value)
      })
      const sorted = values.slice().sort()
      for (const [first, second] of [
        [x, y],
        [y, x],
      ] as const) {
        const merged = new TDigest({ scale })
        merged.merge(first)
        merged.merge(second)
        expect(worstError(merged, sorted)).toBeLessThan(0.25)
        expect(weighed(merged)).toBe(20_000)
      }
    })
  })

  test('weighted values equal values that are added that many times', async () => {
    await eachSeed(10, (random) => {
      const digest = new TDigest({ scale })
      const all: number[] = []
      for (let n = 0; n < 4_000; n++) {
        const value = random.next()
        const weight = 1 + random.whole(9)
        digest.add(value, weight)
        for (let copy = 0; copy < weight; copy++) all.push(value)
      }
      const sorted = Float64Array.from(all).sort()
      expect(worstError(digest, sorted)).toBeLessThan(0.5)
      expect(weighed(digest)).toBe(all.length)
    })
  })
})

describe('a t-digest has a bounded size', () => {
  test.each(scales)('whatever values and weights are added: %s', async (scale) => {
    await eachSeed(3, (random) => {
      for (const compression of [10, 25, 100]) {
        const digest = new TDigest({ compression, scale })
        for (let n = 0; n < 24_000; n++) {
          // weights of 40 bits are few and far between, at either end of the values
          const far = random.next() < 0.01
          digest.add(far ? 1e9 * (random.next() - 0.5) : random.next(), far ? 2 ** random.whole(36) : 1)
          if (n % 503 === 0) expect(digest.centroids().length).toBeLessThanOrEqual(2 * compression + 30)
        }
        expect(weighed(digest)).toBe(digest.count)
      }
    })
  })

  test('of 64 bytes plus 16 for each centroid after compression', () => {
    const digest = new TDigest()
    for (let n = 0; n < 100_000; n++) digest.add(Math.sin(n))
    digest.compress()
    expect(digest.toBytes()).toHaveLength(64 + 16 * digest.centroids().length)
  })
})

function weighed(digest: TDigest): number {
  return digest.centroids().reduce((sum, { weight }) => sum + weight, 0)
}
