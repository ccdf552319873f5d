import { describe, expect, test } from '@jest/globals'
import { MemoryLedger, uniqueCounters } from '@sluice/counters'
import { FakeClock } from '@sluice/testkit'

const HOUR_MS = 3_600_000
const MIDNIGHT = Date.UTC(2026, 4, 4)

describe('stored sketches', () => {
  test('of a day that is gone are undefined by hour, before and after rows are deleted', async () => {
    const clock = new FakeClock({ wallMs: MIDNIGHT + 20 * HOUR_MS })
    const counters = uniqueCounters({ ledger: new MemoryLedger(clock), clock, days: 1 })
    const then = clock.wall()
    await counters.add('page', 'anna', { durable: true })
    expect(await counters.hour('page', { now: then })).toBe(1)
    // ten hours later it is another day
    clock.advance(10 * HOUR_MS)
    expect(await counters.hour('page', { now: then })).toBeUndefined()
    await counters.compact()
    expect(await counters.hour('page', { now: then })).toBeUndefined()
    await counters.close()
  })
})
