import { describe, expect, test } from '@jest/globals'
import { BlockedBloomFilter, BloomFilter, type SketchKey, SketchSeed } from '@sluice/sketches'
import { baseSeed } from '@sluice/testkit'

const seedOf = (n: number): SketchSeed => new SketchSeed(`seed number of 16 bytes${baseSeed() + n}`)
const address = (n: number): string => `10.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`

describe.each([
  ['BloomFilter', BloomFilter],
  ['BlockedBloomFilter', BlockedBloomFilter],
] as const)('a large %s', (_name, Filter) => {
  test.each([
    ['10 million consecutive integers', 1e7, (n: number): SketchKey => n],
    ['10 million consecutive addresses', 1e7, address],
    // so many keys that some share 32 bits of their hash by chance: exposes a filter that depends on only half of the
    // hash
    ['100 million consecutive integers', 1e8, (n: number): SketchKey => n],
  ])(
    'has the stated rate of false positives for the keys that follow %s',
    (_what, expected, keyOf) => {
      const filter = new Filter({ capacity: expected, seed: seedOf(0) })
      for (let n = 0; n < expected; n++) filter.add(keyOf(n))
      const asks = 5_000_000
      let wrong = 0
      for (let n = expected; n < expected + asks; n++) if (filter.has(keyOf(n))) wrong++
      console.log(filter.bits, filter.hashes, wrong / asks, filter.statedRate, filter.size)
      expect(Math.abs(wrong / asks - filter.statedRate)).toBeLessThan(3 * Math.sqrt(filter.statedRate / asks))
      expect(Math.abs(filter.size / expected - 1)).toBeLessThan(0.001)
    },
    600_000,
  )
})

test('uses each of 3 · 2³⁰ bits equally often, although 2³² is not divisible by 3', () => {
  const filter = new BloomFilter({ capacity: 336_000_000, seed: seedOf(1) })
  expect(filter.bits / 2 ** 30).toBeGreaterThan(2.99)
  expect(filter.bits / 2 ** 30).toBeLessThan(3.01)
  const keys = 1_000_000
  for (let n = 0; n < keys; n++) filter.add(n)
  const words = new Uint32Array(filter.toBytes().buffer, 64)
  const ones = [0, 0, 0]
  for (let at = 0; at < words.length; at++) {
    for (let bits = words[at]; bits !== 0; bits &= bits - 1) ones[(at * 32 + 31 - Math.clz32(bits & -bits)) % 3]++
  }
  const third = (keys * filter.hashes) / 3
  for (const count of ones) expect(Math.abs(count - third)).toBeLessThan(0.002 * third)
}, 600_000)
