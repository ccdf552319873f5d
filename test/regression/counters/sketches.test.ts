import { describe, expect, test } from '@jest/globals'
import { MemoryLedger, uniqueCounters } from '@sluice/counters'
import { FakeClock } from '@sluice/testkit'

const HOUR_MS = 3_600_000
const MIDNIGHT = Date.UTC(2026, 4, 4)

describe('stored sketches', () => {
  test('of an earlier day are undefined by hour, before and after rows are deleted', async () => {
    const clock = new FakeClock({ wallMs: MIDNIGHT + 20 * HOUR_MS })
    const counters = uniqueCounters({ ledger: new MemoryLedger(clock), clock, days: 1 })
    const then = clock.wall()
    await counters.add('page', 'anna', { durable: true })
    expect(await counters.hour('page', { now: then })).toBe(1)
    // ten hours later is another day
    clock.advance(10 * HOUR_MS)
    expect(await counters.hour('page', { now: then })).toBeUndefined()
    await counters.compact()
    expect(await counters.hour('page', { now: then })).toBeUndefined()
    await counters.close()
  })

  test('are merged in each hour, even after a clock that was ahead for a moment', async () => {
    const clock = new FakeClock({ wallMs: MIDNIGHT })
    const ledger = new MemoryLedger(clock)
    const rowsOf = (day: number) =>
      ledger.openSketches('default', 'unique').read('page', { from: day * 24, until: day * 24 + 24 })
    const counters = uniqueCounters({ ledger, clock, hours: 1, random: () => 0.5 })
    clock.stepWall(10 * 24 * HOUR_MS)
    await counters.add('page', 'anna', { durable: true })
    await settled()
    clock.stepWall(-10 * 24 * HOUR_MS)
    for (let hour = 0; hour < 5; hour++) {
      await counters.add('page', `key ${hour}`, { durable: true })
      await settled()
      clock.advance(HOUR_MS)
    }
    // the hours before the last one are merged into one row
    expect(await rowsOf(MIDNIGHT / HOUR_MS / 24)).toHaveLength(2)
    expect(await counters.day('page', { now: MIDNIGHT })).toBe(5)
    await counters.close()
  })
})

/** Resolves after promises that depend only on each other have settled. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await Promise.resolve()
}
