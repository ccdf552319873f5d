import { describe, expect, test } from '@jest/globals'
import { BlockedBloomFilter, BloomFilter, CountingBloomFilter, type SketchKey, SketchSeed } from '@sluice/sketches'
import { baseSeed, numberOfRuns } from '@sluice/testkit'

type Filter = BloomFilter | BlockedBloomFilter | CountingBloomFilter
type KeyOf = (n: number) => SketchKey

const seedOf = (n: number): SketchSeed => new SketchSeed(`a seed of sixteen bytes, number ${baseSeed() + n}`)
const integers: KeyOf = (n) => n
const addresses: KeyOf = (n) => `10.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`
const users: KeyOf = (n) => `user:${String(n).padStart(10, '0')}`

const FILTERS: readonly string[] = ['BloomFilter', 'BlockedBloomFilter', 'CountingBloomFilter']
const KINDS = [
  ['consecutive integers', integers],
  ['consecutive addresses', addresses],
  ['numbered users', users],
] as const

/** The share of `asks` absent keys, following the added ones, that the filter reports as present. */
function measuredRate(filter: Filter, keyOf: KeyOf, keys: number, asks: number): number {
  for (let n = 0; n < keys; n++) filter.add(keyOf(n))
  let wrong = 0
  for (let n = keys; n < keys + asks; n++) if (filter.has(keyOf(n))) wrong++
  return wrong / asks
}

function meanOf(rates: readonly number[]): number {
  return rates.reduce((sum, rate) => sum + rate, 0) / rates.length
}

/** Expects the mean to be within three deviations, computed from the spread of the runs. */
function expectMean(rates: readonly number[], stated: number): void {
  const mean = meanOf(rates)
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / (rates.length - 1)
  expect(Math.abs(mean - stated)).toBeLessThan(3 * Math.sqrt(variance / rates.length))
}

describe.each([
  [
    'BloomFilter',
    (expected: number, falsePositiveRate: number, seed: SketchSeed): Filter =>
      new BloomFilter({ capacity: expected, errorRate: falsePositiveRate, seed }),
  ],
  [
    'BlockedBloomFilter',
    (expected: number, falsePositiveRate: number, seed: SketchSeed): Filter =>
      new BlockedBloomFilter({ capacity: expected, errorRate: falsePositiveRate, seed }),
  ],
  [
    'CountingBloomFilter',
    (expected: number, falsePositiveRate: number, seed: SketchSeed): Filter =>
      new CountingBloomFilter({ capacity: expected, errorRate: falsePositiveRate, seed }),
  ],
] as const)('%s', (name, make) => {
  const ofFilter = FILTERS.indexOf(name)
  const inTurns = KINDS.filter((_, index) => (ofFilter + index) % KINDS.length < numberOfRuns(KINDS.length))
  test.each(inTurns)('has the stated rate of false positives: 10,000 %s, 12 seeds', (_what, keyOf) => {
    const rates = Array.from({ length: 12 }, (_, n) =>
      measuredRate(make(10_000, 0.01, seedOf(n)), keyOf, 10_000, 20_000),
    )
    expectMean(rates, make(10_000, 0.01, seedOf(0)).statedRate)
  })

  test('has the stated rate for few keys: 100 of them in 200 small filters', () => {
    const rates = Array.from({ length: 200 }, (_, n) => measuredRate(make(100, 0.02, seedOf(n)), integers, 100, 2000))
    // so few keys are spread over their blocks more evenly than the stated rate assumes
    if (name === 'BlockedBloomFilter') expect(meanOf(rates)).toBeLessThan(make(100, 0.02, seedOf(0)).statedRate)
    else expectMean(rates, make(100, 0.02, seedOf(0)).statedRate)
  })

  test('has a rate of one in 100,000 for very few keys, where two keys that share two cells must not share all cells', () => {
    let wrong = 0
    for (let n = 0; n < 40; n++) wrong += measuredRate(make(50, 1e-5, seedOf(n)), integers, 50, 20_000) * 20_000
    expect(wrong).toBeLessThan(40 * 20_000 * 1e-5)
  })

  test('has the stated rate for a million keys', () => {
    const filter = make(1_000_000, 0.01, seedOf(1))
    const stated = filter.statedRate
    const asks = 400_000
    const rate = measuredRate(filter, integers, 1_000_000, asks)
    expect(Math.abs(rate - stated)).toBeLessThan(3 * Math.sqrt(stated / asks))
    expect(Math.abs(rate - filter.falsePositiveRate)).toBeLessThan(3 * Math.sqrt(stated / asks))
  })

  test('reports its real rate when it is overfull', () => {
    const filter = make(10_000, 0.01, seedOf(2))
    const rate = measuredRate(filter, users, 20_000, 50_000)
    expect(rate).toBeGreaterThan(0.1)
    expect(Math.abs(rate - filter.falsePositiveRate)).toBeLessThan(4 * Math.sqrt(rate / 50_000))
  })

  test('false positives found under another seed do not work here', () => {
    const [theirs, ours] = [make(10_000, 0.01, seedOf(3)), make(10_000, 0.01, seedOf(4))]
    for (let n = 0; n < 10_000; n++) for (const filter of [theirs, ours]) filter.add(users(n))
    const sought: SketchKey[] = []
    for (let n = 10_000; sought.length < 2000; n++) if (theirs.has(users(n))) sought.push(users(n))
    const wrong = sought.filter((key) => ours.has(key)).length
    expect(wrong).toBeLessThan(2000 * 0.01 + 3 * Math.sqrt(2000 * 0.01))
  })

  test('false positives can be forged by an attacker who has the seed: the seed is a secret', () => {
    const [theirs, ours] = [make(10_000, 0.01, seedOf(5)), make(10_000, 0.01, seedOf(5))]
    for (let n = 0; n < 10_000; n++) for (const filter of [theirs, ours]) filter.add(users(n))
    const sought: SketchKey[] = []
    for (let n = 10_000; sought.length < 200; n++) if (theirs.has(users(n))) sought.push(users(n))
    expect(sought.every((key) => ours.has(key))).toBe(true)
  })
})
