import { afterEach, describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createLimiter, type Limiter } from '@sluice/limiter-core'
import { createQuotas, type Quotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

let clock: FakeClock
let quotas: Quotas
let limiter: Limiter

function start(at: string, timeZone = 'UTC'): void {
  clock = new FakeClock({ wallMs: Date.parse(at) })
  quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  const policies = [quota({ name: 'calls', limit: 10, per: 'day', timeZone, backend: quotas })]
  limiter = createLimiter({ policies, clock, deadlineMs: 60_000, onBackendError: 'deny' })
}
afterEach(async () => {
  limiter.close()
  await quotas.close()
})

describe('an hour in which clocks are set back by half an hour', () => {
  test('has the usage of its last 30 minutes, and ends when the next hour begins', async () => {
    start('2026-04-04T14:50Z', 'Australia/Lord_Howe')
    for (let passed = 0; passed < 4; passed++) {
      expect((await limiter.take('a', 1)).allowed).toBe(true)
      clock.advance(15 * MINUTE_MS)
    }
    const hour = Date.parse('2026-04-04T14:00Z')
    expect(await quotas.usage('a', { from: hour, to: hour + DAY_MS, by: 'hour' })).toMatchObject([
      { from: hour, until: hour + 1.5 * HOUR_MS, used: 3 },
      { from: hour + 1.5 * HOUR_MS, until: hour + 2.5 * HOUR_MS, used: 1 },
    ])
  })

  test('a half hour that clocks set forward leave is reported as such, and contains no later units', async () => {
    start('2026-10-03T15:40Z', 'Australia/Lord_Howe')
    await limiter.take('a', 1)
    clock.advance(30 * MINUTE_MS)
    await limiter.take('a', 2)
    const hour = Date.parse('2026-10-03T15:30Z')
    expect(await quotas.usage('a', { from: hour, to: hour + DAY_MS, by: 'hour' })).toMatchObject([
      { from: hour, until: hour + 30 * MINUTE_MS, used: 1 },
      { from: hour + 30 * MINUTE_MS, until: hour + 90 * MINUTE_MS, used: 2 },
    ])
  })
})

describe('a reservation that outlives its period', () => {
  test('still holds the units of top-ups that it needs', async () => {
    start('2026-11-02T23:59Z')
    await quotas.topUp('a', 5, { token: 'invoice' })
    const reservation = await quotas.reserve('a', 15, { ttlMs: '10m' })
    clock.advance(2 * MINUTE_MS)
    expect(await quotas.balance('a')).toMatchObject({ reserved: 5, topUpLeft: 5, left: 10, available: 10 })
    expect((await limiter.take('a', 11)).allowed).toBe(false)
    expect((await limiter.take('a', 10)).allowed).toBe(true)
    expect(await quotas.post('a', reservation?.id as string)).toBe('posted')
    const range = { from: Date.parse('2026-11-02T00:00Z'), to: Date.parse('2026-11-04T00:00Z') }
    expect(await quotas.usage('a', range)).toMatchObject([
      { used: 15, toppedUp: 5 },
      { used: 10, toppedUp: 0 },
    ])
  })

  test('holds no units of top-ups if the included units of its period are enough', async () => {
    start('2026-11-02T23:59Z')
    await quotas.topUp('a', 5, { token: 'invoice' })
    await quotas.reserve('a', 10, { ttlMs: '10m' })
    clock.advance(2 * MINUTE_MS)
    expect(await quotas.balance('a')).toMatchObject({ reserved: 0, left: 15, available: 15 })
  })

  test('is charged to its period after several later periods', async () => {
    start('2026-11-02T12:00Z')
    const reservation = await quotas.reserve('a', 10, { ttlMs: '7d' })
    for (let days = 0; days < 6; days++) {
      clock.advance(DAY_MS)
      await limiter.take('a', 1)
    }
    await quotas.post('a', reservation?.id as string)
    expect(await quotas.balance('a')).toMatchObject({ used: 1, left: 9 })
    const range = { from: Date.parse('2026-11-02T00:00Z'), to: Date.parse('2026-11-03T00:00Z') }
    expect(await quotas.usage('a', range)).toMatchObject([{ used: 10 }])
  })
})
