import { describe, expect, test } from '@jest/globals'
import { BlockedBloomFilter, BloomFilter, CountingBloomFilter, redisBloomSize, SketchSeed } from '@sluice/sketches'
import fc from 'fast-check'
import { codeOf } from '../contract/sketch-contract.ts'

const seed = new SketchSeed('a seed that the tests know')
const key = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.maxSafeInteger(),
  fc.double(),
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom('__proto__', '\ud800', '\0', 'x'.repeat(5000), -0, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY),
)

describe.each([
  ['BloomFilter', BloomFilter],
  ['BlockedBloomFilter', BlockedBloomFilter],
  ['CountingBloomFilter', CountingBloomFilter],
] as const)('%s', (_name, Filter) => {
  test('never reports an added key as absent, even if it is far too full', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 400 }), (keys) => {
        const filter = new Filter({ capacity: 10, seed })
        for (const added of keys) filter.add(added)
        for (const added of keys) expect(filter.has(added)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('returns true for the first add of a key, and false for every later add', () => {
    const filter = new Filter({ capacity: 10_000, errorRate: 1e-6, seed })
    for (let n = 0; n < 1000; n++) expect(filter.add(`key ${n}`)).toBe(true)
    for (let n = 0; n < 1000; n++) expect(filter.add(`key ${n}`)).toBe(false)
  })

  test('reports every key as absent while it is empty', () => {
    const filter = new Filter({ capacity: 1000, seed })
    expect([filter.size, filter.falsePositiveRate]).toEqual([0, 0])
    for (let n = 0; n < 1000; n++) expect(filter.has(n)).toBe(false)
  })

  test.each([1, 10, 1000, 30_000])('estimates its size of %i keys to within 2 % plus one', (count) => {
    const filter = new Filter({ capacity: 20_000, seed })
    for (let n = 0; n < count; n++) filter.add(n)
    for (let n = 0; n < count; n++) filter.add(n)
    expect(Math.abs(filter.size - count)).toBeLessThan(0.02 * count + 1)
  })

  test('reports a rate of 1 and an infinite size once every cell is taken', () => {
    const filter = new Filter({ capacity: 1, seed })
    for (let n = 0; n < 5000; n++) filter.add(n)
    expect([filter.size, filter.falsePositiveRate]).toEqual([Number.POSITIVE_INFINITY, 1])
    expect(filter.has('never added')).toBe(true)
  })

  test('states a rate that is at most the configured rate', () => {
    for (const expected of [1, 7, 50, 1000, 123_456, 10_000_000]) {
      for (const falsePositiveRate of [0.5, 0.1, 0.01, 1e-4, 1e-8]) {
        const filter = new Filter({ capacity: expected, errorRate: falsePositiveRate, seed })
        expect(filter.statedRate).toBeLessThanOrEqual(falsePositiveRate)
        // small filters can be better, since they take at least one line of 512 bits
        if (expected > 100_000) expect(filter.statedRate).toBeGreaterThan(falsePositiveRate * 0.99)
      }
    }
  })

  test('counts the keys of a merged filter', () => {
    const [mine, yours] = [new Filter({ capacity: 10_000, seed }), new Filter({ capacity: 10_000, seed })]
    for (let n = 0; n < 6000; n++) (n < 3000 ? mine : yours).add(n)
    mine.merge(yours as never)
    expect(Math.abs(mine.size - 6000)).toBeLessThan(120)
    expect(Filter.fromBytes(mine.toBytes(), { seed }).size).toBe(mine.size)
  })
})

describe('BloomFilter', () => {
  // computed by hand: the k with the smallest -k n / ln(1 - p^(1/k)), in lines of 512
  test.each([
    [1_000_000, 0.01, 9_593_344, 7],
    [1_000_000, 0.001, 14_377_984, 10],
    [10_000_000, 0.01, 95_929_856, 7],
  ])('for %i keys at %f has %i bits, of which a key sets %i', (expected, falsePositiveRate, bits, hashes) => {
    const filter = new BloomFilter({ capacity: expected, errorRate: falsePositiveRate, seed })
    expect([filter.bits, filter.hashes]).toEqual([bits, hashes])
  })

  test('takes at most 512 MiB, and reports the size that it would have needed', () => {
    expect(() => new BloomFilter({ capacity: 1e9, seed })).toThrow(/takes? 119\d{7} bytes/)
    expect(codeOf(() => new CountingBloomFilter({ capacity: 2e8, seed }))).toBe('SLUICE_BAD_OPTION')
  })
})

describe('the size of a RedisBloom filter', () => {
  // from its documentation: 9.585 bits a key and 7 hashes at 1 %, 14.378 and 10 at 0.1 %, 19.170 and 14 at 0.01 %
  test.each([
    [0.01, 9.585, 7],
    [0.001, 14.378, 10],
    [0.0001, 19.17, 14],
    [0.25, 2.885, 2],
  ])('at a rate of %f is %f bits a key and %i hashes', (falsePositiveRate, bitsPerKey, hashes) => {
    const size = redisBloomSize({ capacity: 1000, errorRate: falsePositiveRate })
    expect(size.bitsPerKey).toBeCloseTo(bitsPerKey, 3)
    expect(size.hashes).toBe(hashes)
    expect(size.bits % 64).toBe(0)
    expect(size.bits - 1000 * size.bitsPerKey).toBeGreaterThan(-1)
    expect(size.bits - 1000 * size.bitsPerKey).toBeLessThan(64)
  })

  test.each([{}, { capacity: 0 }, { capacity: 1, errorRate: 2 }, { capacity: 1, seed: 'no' }])(
    'rejects %p',
    (options) => {
      expect(codeOf(() => redisBloomSize(options as never))).toBe('SLUICE_BAD_OPTION')
    },
  )
})
