import { describe, expect, test } from '@jest/globals'
import { DigestCounter, UniqueCounter } from '@sluice/counters'
import { baseSeed, type SeededRandom, seededRandom } from '@sluice/testkit'
import { codeOf } from '../../code-of.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const seed = 'a seed of more than 16 bytes'
/** A midnight in UTC. */
const START = Date.UTC(2026, 0, 5)

function near(value: number | undefined, expected: number): void {
  // five standard errors of 2^14 registers
  expect(Math.abs(Number(value) - expected)).toBeLessThanOrEqual(0.0406 * expected)
}

describe('a UniqueCounter', () => {
  test('counts a key of many hours once per day', () => {
    const counter = new UniqueCounter({ seed })
    for (let hour = 0; hour < 24; hour++) {
      for (let n = 0; n < 1_000; n++) counter.add(n + 100 * hour, START + hour * HOUR)
    }
    for (const hour of [0, 7, 23]) near(counter.hour(START + hour * HOUR + 1), 1_000)
    near(counter.day(START + DAY - 1), 3_300)
    expect([counter.hour(START + DAY), counter.day(START + DAY), counter.day(START - 1)]).toEqual([0, 0, 0])
  })

  test('keeps hours for a while, then only days, then nothing', () => {
    const counter = new UniqueCounter({ seed, hours: 6, days: 3 })
    for (let hour = 0; hour < 96; hour++) counter.add(`hour ${hour}`, START + hour * HOUR)
    const newest = START + 95 * HOUR
    expect([counter.hour(newest), counter.hour(newest - 5 * HOUR), counter.hour(newest - 6 * HOUR)]).toEqual([
      1,
      1,
      undefined,
    ])
    expect([0, 1, 2, 3].map((day) => counter.day(START + day * DAY))).toEqual([0, 24, 24, 24])
    expect([counter.day(newest, 2), counter.day(newest, 1_000)]).toEqual([48, 72])
    // late additions: counted in their day if it is still kept, otherwise dropped
    expect([counter.add('late', newest - DAY), counter.add('too late', newest - 3 * DAY)]).toEqual([true, false])
    expect([counter.day(newest - DAY), counter.day(newest - 3 * DAY)]).toEqual([25, 0])
  })

  test('merges with counters of other processes and other hours, and merging twice equals merging once', () => {
    const [whole, one, other] = [{}, { hours: 2 }, {}].map((options) => new UniqueCounter({ seed, ...options }))
    const random = seededRandom(baseSeed())
    for (let n = 0; n < 2_000; n++) {
      const [key, now] = [random.whole(500), START + random.whole(72) * HOUR]
      whole.add(key, now)
      random.pick([one, other]).add(key, now)
    }
    one.merge(other)
    one.merge(other)
    for (const days of [1, 2, 3]) expect(one.day(START + 71 * HOUR, days)).toBe(whole.day(START + 71 * HOUR, days))
    expect(one.hour(START + 71 * HOUR)).toBe(whole.hour(START + 71 * HOUR))
  })

  test('rejects invalid input with an error code, and stays unchanged', () => {
    for (const options of [{ hours: 0 }, { days: 0 }, { days: 1, hours: 25 }, { precision: 3 }, { day: 1 }]) {
      expect(codeOf(() => new UniqueCounter(options))).toBe('SLUICE_BAD_OPTION')
    }
    const counter = new UniqueCounter({ seed })
    counter.add('a', START)
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY, '0', undefined]) {
      expect(codeOf(() => counter.add('a', now as number))).toBe('SLUICE_BAD_OPTION')
      expect(codeOf(() => counter.hour(now as number))).toBe('SLUICE_BAD_OPTION')
    }
    const stranger = new UniqueCounter({ seed: 'another seed, of 16 bytes' })
    stranger.add('b', START + 90 * DAY)
    expect(codeOf(() => counter.merge(stranger))).toBe('SLUICE_SKETCH_MISMATCH')
    expect(codeOf(() => counter.merge({} as UniqueCounter))).toBe('SLUICE_BAD_MESSAGE')
    expect([counter.hour(START), codeOf(() => counter.day(START, 0))]).toEqual([1, 'SLUICE_BAD_OPTION'])
  })
})

describe('a DigestCounter', () => {
  /** Expects the rank of the answer to be within 2 % of `q`. */
  function expectQuantile(answer: number | undefined, values: readonly number[], q: number): void {
    const rank = values.filter((value) => value <= Number(answer)).length / values.length
    expect(Math.abs(rank - q)).toBeLessThan(0.02)
  }

  function measured(random: SeededRandom, hour: number): number {
    return Math.exp(random.next() * 5) * (1 + hour)
  }

  test('returns the quantiles of an hour, and of the day over all its values', () => {
    const [one, other] = [new DigestCounter({ hours: 8 }), new DigestCounter()]
    const random = seededRandom(baseSeed())
    const hours: number[][] = Array.from({ length: 24 }, () => [])
    for (let n = 0; n < 24_000; n++) {
      const hour = Math.floor(n / 1_000)
      const value = measured(random, hour)
      hours[hour].push(value)
      random.pick([one, other]).add(value, START + hour * HOUR)
    }
    one.merge(other)
    const now = START + 23 * HOUR
    for (const q of [0.01, 0.5, 0.95, 0.99]) {
      expectQuantile(one.hour(q, now), hours[23], q)
      expectQuantile(one.day(q, now), hours.flat(), q)
    }
    expect(one.hour(0.5, START)).toBeUndefined()
  })

  test('has no quantiles without values, and rejects invalid ones with an error code', () => {
    const counter = new DigestCounter()
    expect([counter.hour(0.5, START), counter.day(0.5, START)]).toEqual([Number.NaN, Number.NaN])
    for (const q of [-0.1, 1.1, Number.NaN, '0.5']) {
      expect(codeOf(() => counter.day(q as number, START))).toBe('SLUICE_BAD_OPTION')
    }
    expect(codeOf(() => counter.add(Number.NaN, START))).toBe('SLUICE_BAD_AMOUNT')
    expect(codeOf(() => new DigestCounter({ compression: 1 }))).toBe('SLUICE_BAD_OPTION')
    expect(codeOf(() => counter.merge(new UniqueCounter() as never))).toBe('SLUICE_BAD_MESSAGE')
  })
})
