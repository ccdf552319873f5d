import { afterEach, describe, expect, test } from '@jest/globals'
import {
  burstGaps,
  eachSeed,
  numberOfRuns,
  poissonGaps,
  seededRandom,
  traffic,
  uniformKeys,
  zipfKeys,
} from '@sluice/testkit'

const draws = 50_000
const many = (draw: () => number) => Array.from({ length: draws }, draw)
const mean = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length

describe('seededRandom', () => {
  test('draws the same numbers for the same seed, and different ones for another seed', () => {
    const first = (seed: number) => Array.from({ length: 5 }, seededRandom(seed).next)
    expect(first(1)).toEqual(first(1))
    expect(first(1)).not.toEqual(first(2))
  })

  test('draws uniformly, and stays within the given range', () => {
    const random = seededRandom(3)
    const numbers = many(random.next)
    expect(Math.min(...numbers.slice(0, 10_000))).toBeGreaterThanOrEqual(0)
    expect(Math.max(...numbers.slice(0, 10_000))).toBeLessThan(1)
    expect(mean(numbers)).toBeCloseTo(0.5, 1)
    expect(new Set(many(() => random.whole(6)))).toEqual(new Set([0, 1, 2, 3, 4, 5]))
    expect(['a', 'b']).toContain(random.pick(['a', 'b']))
  })
})

const { SLUICE_RUNS } = process.env

afterEach(() => setRuns(SLUICE_RUNS))

function setRuns(factor: string | undefined): void {
  if (factor === undefined) delete process.env.SLUICE_RUNS
  else process.env.SLUICE_RUNS = factor
}

test('eachSeed runs as many seeds as SLUICE_RUNS says', async () => {
  const seedsOf = async (factor: string | undefined): Promise<number> => {
    let seeds = 0
    setRuns(factor)
    await eachSeed(5, () => void seeds++)
    return seeds
  }
  expect(await seedsOf(undefined)).toBe(5)
  expect(await seedsOf('0.5')).toBe(3)
  expect(await seedsOf('0.01')).toBe(1)
  expect(await seedsOf('2')).toBe(10)
})

test.each(['', '0', '-1', 'many', 'Infinity'])('SLUICE_RUNS must be a number above 0: %j', (factor) => {
  setRuns(factor)
  expect(() => numberOfRuns(3)).toThrow(RangeError)
})

test('eachSeed reports the seed that failed a claim', async () => {
  setRuns(undefined)
  const seeds: number[] = []
  await eachSeed(3, (_, seed) => void seeds.push(seed))
  expect(seeds.map((seed) => seed - seeds[0])).toEqual([0, 1, 2])
  const broken = eachSeed(3, (_, seed) => {
    if (seed === seeds[1]) throw new Error('claim')
  })
  await expect(broken).rejects.toThrow(`SLUICE_SEED=${seeds[1]}: claim`)
})

describe('traffic', () => {
  test('distributes events over the keys uniformly or by rank', () => {
    const uniform = many(uniformKeys(seededRandom(1), 10))
    const zipf = many(zipfKeys(seededRandom(1), 1_000))
    const share = (keys: number[], key: number) => keys.filter((one) => one === key).length / draws
    for (let key = 0; key < 10; key++) expect(share(uniform, key)).toBeCloseTo(0.1, 1)
    // 1 / (1 + 1/2 + … + 1/1000)
    expect(share(zipf, 0)).toBeCloseTo(0.1336, 2)
    expect(share(zipf, 1)).toBeCloseTo(0.0668, 2)
    expect(Math.max(...zipf.slice(0, 10_000))).toBeLessThan(1_000)
  })

  test('keeps the mean gap, with single events and with bursts', () => {
    expect(mean(many(poissonGaps(seededRandom(1), 20)))).toBeCloseTo(20, 0)
    const gaps = many(burstGaps(seededRandom(1), 5, 100))
    expect(mean(gaps)).toBeCloseTo(20, 0)
    expect(gaps.slice(1, 5)).toEqual([0, 0, 0, 0])
  })

  test('is in order, has the given length, and rounds to whole ms if configured', () => {
    const random = seededRandom(1)
    const stream = [...traffic(500, poissonGaps(random, 3), uniformKeys(random, 4), true)]
    expect(stream.length).toBe(500)
    for (const [index, { atMs }] of stream.entries()) {
      expect(Number.isInteger(atMs)).toBe(true)
      expect(atMs).toBeGreaterThanOrEqual(stream[Math.max(0, index - 1)].atMs)
    }
  })
})
