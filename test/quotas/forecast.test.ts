import { describe, expect, test } from '@jest/globals'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import type { UsageLine } from '../../packages/counters/src/ledger/quota-table.ts'
import type { QuotaBalance } from '../../packages/quotas/src/quota-balance.ts'
import { forecastOf, measuredFrom } from '../../packages/quotas/src/quota-forecast.ts'

const HOUR_MS = 3_600_000
const START = Date.UTC(2026, 10, 1)
const END = Date.UTC(2026, 11, 1)

function balance(available: number, more: Partial<QuotaBalance> = {}): QuotaBalance {
  return { period: '2026-11-01', startsAt: START, endsAt: END, available, onLease: 0, ...more } as QuotaBalance
}

/** Returns the usage of consecutive hours from the start of the period. */
function linesOf(hourly: readonly number[]): UsageLine[] {
  return hourly.map((units, index) => ({ hour: START + index * HOUR_MS, units, stranded: 0, toppedUp: 0 }))
}

/** Requests at random times from the start, as a Poisson process. Returns the lines until `now` and when `limit` was used up. */
function simulate(random: SeededRandom, { perHour, costs, now, limit }: Traffic) {
  const hourly: number[] = Array.from({ length: Math.ceil((now - START) / HOUR_MS) }, () => 0)
  let used = 0
  let before = 0
  let at = START
  while (used < limit) {
    at -= (Math.log(1 - random.next()) * HOUR_MS) / perHour
    const cost = random.pick(costs)
    used += cost
    if (at > now) continue
    before = used
    hourly[Math.floor((at - START) / HOUR_MS)] += cost
  }
  return { lines: linesOf(hourly).filter(({ units }) => units > 0), left: Math.max(0, limit - before), exhaustedAt: at }
}

interface Traffic {
  readonly perHour: number
  readonly costs: readonly number[]
  readonly now: number
  readonly limit: number
}

describe('a forecast', () => {
  test.each<[string, Omit<Traffic, 'now'> & { readonly hours: number }]>([
    ['single units after a day', { perHour: 5, costs: [1], hours: 24, limit: 300 }],
    ['single units after ten days', { perHour: 2, costs: [1], hours: 240, limit: 700 }],
    ['a few units', { perHour: 0.3, costs: [1], hours: 24, limit: 20 }],
    [
      'costs that differ by a factor of a thousand',
      { perHour: 3, costs: [1, 10, 100, 1_000], hours: 24, limit: 50_000 },
    ],
    ['many requests in two hours', { perHour: 500, costs: [1], hours: 2.5, limit: 3_000 }],
  ])('includes the exhaustion in 19 of 20 cases: %s', async (_, { hours, ...traffic }) => {
    const now = START + hours * HOUR_MS
    let runs = 0
    let outside = 0
    await eachSeed(400, (random) => {
      const { lines, left, exhaustedAt } = simulate(random, { ...traffic, now })
      if (left === 0) return
      const forecast = forecastOf({ balance: balance(left, { endsAt: Number.MAX_SAFE_INTEGER }), lines, now })
      const { earliest = now, exhaustedAt: expected = Number.POSITIVE_INFINITY, latest = expected } = forecast
      expect(earliest).toBeLessThanOrEqual(expected)
      expect(latest).toBeGreaterThanOrEqual(expected)
      runs++
      const isLate = forecast.latest !== undefined && exhaustedAt > latest
      if (exhaustedAt < earliest || isLate) outside++
    })
    expect(outside).toBeLessThan(3 + 0.08 * runs)
  })

  test('narrows with the number of regular hours', () => {
    const widths = [1, 4, 24, 240].map((hours) => {
      const now = START + hours * HOUR_MS
      const lines = linesOf(Array.from({ length: hours }, () => 100))
      const endless = balance(1_000_000, { endsAt: Number.MAX_SAFE_INTEGER })
      const { exhaustedAt = 0, earliest = 0 } = forecastOf({ balance: endless, lines, now })
      return (exhaustedAt - earliest) / (exhaustedAt - now)
    })
    expect(widths).toEqual(widths.toSorted((one, other) => other - one))
    expect(widths[0]).toBeGreaterThan(0.7)
    expect(widths[3]).toBeLessThan(0.03)
  })

  test.each<[string, (hour: number) => number]>([
    ['nights', (hour) => (hour % 24 < 12 ? 200 : 20)],
    ['weekends', (hour) => (Math.floor(hour / 24) % 7 < 5 ? 154 : 0)],
  ])('includes the exhaustion once %s have been measured', (_, unitsIn) => {
    for (const days of [7, 10, 12]) {
      const now = START + days * 24 * HOUR_MS
      const lines = linesOf(Array.from({ length: days * 24 }, (_each, hour) => unitsIn(hour)))
      const left = 30_000
      let hour = days * 24
      for (let used = 0; used < left; hour++) used += unitsIn(hour)
      const endless = balance(left, { endsAt: Number.MAX_SAFE_INTEGER })
      const { earliest, latest } = forecastOf({ balance: endless, lines, now })
      expect(earliest).toBeLessThan(START + hour * HOUR_MS)
      expect(latest).toBeGreaterThan(START + hour * HOUR_MS)
    }
  })

  test('is undefined where the units last until the period ends', () => {
    const now = START + 10 * 24 * HOUR_MS
    const lines = linesOf(Array.from({ length: 240 }, (_, hour) => (hour % 3 === 0 ? 9 : 0)))
    const of = (left: number) => forecastOf({ balance: balance(left), lines, now })
    // 3 an hour are 1,440 in the remaining 20 days
    expect(of(5_000)).toMatchObject({ exhaustedAt: undefined, earliest: undefined, latest: undefined })
    expect(of(1_450)).toMatchObject({ exhaustedAt: undefined, earliest: expect.any(Number), latest: undefined })
    expect(of(1_430)).toMatchObject({ exhaustedAt: now + (1_430 / 3) * HOUR_MS, latest: undefined })
    expect(of(500)).toMatchObject({ latest: expect.any(Number) })
  })

  test('measures from the first hour with usage, and counts units on lease as left', () => {
    const now = START + 12 * HOUR_MS
    const lines = linesOf([0, 0, 0, 0, 0, 0, 0, 0, 10, 10, 10, 10])
    const forecast = forecastOf({ balance: balance(15, { onLease: 5 }), lines, now })
    expect(forecast).toMatchObject({ left: 20, perHour: 10, exhaustedAt: now + 2 * HOUR_MS })
  })

  test('is now if nothing is left, and unknown without usage', () => {
    const now = START + HOUR_MS
    const spent = forecastOf({ balance: balance(0), lines: linesOf([4]), now })
    expect(spent).toMatchObject({ left: 0, exhaustedAt: now, earliest: now, latest: now })
    // all used units were given back
    const unused = forecastOf({ balance: balance(4), lines: linesOf([4, -4]), now: now + HOUR_MS })
    expect(unused).toMatchObject({ perHour: 0, exhaustedAt: undefined, earliest: undefined, latest: undefined })
  })

  test('reads at most 31 days', () => {
    expect(measuredFrom(balance(1), START + HOUR_MS)).toBe(START)
    expect(measuredFrom(balance(1, { startsAt: 0 }), START)).toBe(START - 31 * 24 * HOUR_MS)
  })

  test('is ordered and finite for any usage', () =>
    eachSeed(2_000, (random) => {
      const size = random.pick([1, 20, 1e6, 1e12])
      const hourly = Array.from({ length: random.whole(100) }, () => random.whole(4) * size - random.pick([0, 0, size]))
      const now = START + (hourly.length + random.next()) * HOUR_MS
      const left = random.pick([0, 1, 1 + random.whole(1_000), 999_999_999_999_999])
      const { exhaustedAt, earliest, latest, perHour } = forecastOf({
        balance: balance(left),
        lines: linesOf(hourly),
        now,
      })
      const times = [earliest, exhaustedAt, latest]
      const known = times.filter((at): at is number => at !== undefined)
      expect(times.slice(0, known.length)).toEqual(known.toSorted((one, other) => one - other))
      for (const at of known) expect(at >= Math.floor(now) && at < END).toBe(true)
      expect(perHour >= 0 && Number.isFinite(perHour)).toBe(true)
    }))
})
