import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { byHeader, createLimiter, rateLimit } from '@sluice/express'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { createQuotas, quota } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import express from 'express'

const HOUR_MS = 3_600_000
const NAMES = { policy: 'daily' } as const

/** A process with a database that has a separate clock. */
function processAt(wallMs: number, timeZone: string, limit: number, resetAt?: string) {
  const database = new FakeClock({ wallMs })
  const clock = new FakeClock({ wallMs })
  const quotas = createQuotas(new MemoryLedger(database), { clock, serverTime: () => database.wall() })
  const policies = [quota({ name: 'daily', limit, per: 'day', timeZone, resetAt, backend: quotas })]
  const both = async (ms: number): Promise<void> => {
    for (let step = 0; step < 8; step++) {
      database.advance(ms / 8)
      clock.advance(ms / 8)
      for (let turns = 0; turns < 4; turns++) await new Promise<void>((resolve) => afterThisTurn(resolve))
      await quotas.idle()
    }
  }
  return { database, clock, quotas, policies, both }
}

/** Sends requests and returns the status and `Retry-After` of each. */
async function requests({ policies, clock }: ReturnType<typeof processAt>, use: (ask: Ask) => Promise<void>) {
  const app = express()
  app.use(rateLimit({ key: byHeader('x-key'), policies, clock, deadlineMs: 20_000 }))
  app.get('/', (_req, res) => {
    res.send('ok')
  })
  const server = createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  try {
    await use(async () => {
      const { status, headers } = await fetch(url, { headers: { 'x-key': 'acme' } })
      return [status, headers.get('retry-after')]
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

type Ask = () => Promise<readonly [status: number, retryAfter: string | null]>

describe('a day on which clocks are set', () => {
  test.each<[string, string, string, number, ...string[]]>([
    ['forward at midnight', 'America/Santiago', '2026-09-06T04:00:00Z', 23],
    ['back at midnight', 'America/Santiago', '2026-04-04T03:00:00Z', 25],
    ['forward at midnight', 'Africa/Cairo', '2026-04-23T22:00:00Z', 23],
    ['forward', 'Europe/Berlin', '2026-03-28T23:00:00Z', 23],
    ['back', 'Europe/Berlin', '2026-10-24T22:00:00Z', 25],
    ['forward by half an hour', 'Australia/Lord_Howe', '2026-10-03T13:30:00Z', 23.5],
    ['back by half an hour', 'Australia/Lord_Howe', '2026-04-04T13:00:00Z', 24.5],
    // the day begins at 03:00, because clocks skip 02:30
    ['forward over the time at which it begins', 'Europe/Berlin', '2026-03-29T01:00:00Z', 23.5, '02:30'],
    ['back over the time at which it begins', 'Europe/Berlin', '2026-10-25T00:30:00Z', 25, '02:30'],
    ['forward after it has begun at 22:15', 'Europe/Berlin', '2026-03-28T21:15:00Z', 23, '22:15'],
  ])(
    '%s in %s ends when the next one begins, and Retry-After is exact to the second',
    async (_, timeZone, startsAt, hours, ...[resetAt]) => {
      const begun = Date.parse(startsAt)
      const one = processAt(begun - 1, timeZone, 2, resetAt)
      await requests(one, async (ask) => {
        // the last millisecond of the previous day
        for (const expected of [200, 200, 429]) expect((await ask())[0]).toBe(expected)
        await one.both(1)
        for (const expected of [200, 200]) expect((await ask())[0]).toBe(expected)
        expect(await ask()).toEqual([429, String(hours * 3_600)])
        await one.both(hours * HOUR_MS - 1_500)
        expect(await ask()).toEqual([429, '2'])
        await one.both(1_499)
        expect(await ask()).toEqual([429, '1'])
        await one.both(1)
        expect((await ask())[0]).toBe(200)
      })
      const balance = await one.quotas.balance('acme', NAMES)
      expect([balance.startsAt, balance.used]).toEqual([begun + hours * HOUR_MS, 1])
      const range = { from: begun - HOUR_MS, to: begun + 30 * HOUR_MS, ...NAMES }
      const days = await one.quotas.usage('acme', range)
      expect(days.map(({ from, until, used }) => [from, until, used]).slice(1)).toEqual([
        [begun, begun + hours * HOUR_MS, 2],
        [begun + hours * HOUR_MS, balance.endsAt, 1],
      ])
      await one.quotas.close()
    },
  )
})

describe('a lease held over midnight', () => {
  test('is charged to its own day, even if it is reported later, and ends with the day', async () => {
    const midnight = Date.UTC(2026, 10, 3)
    const one = processAt(midnight - 2_000, 'UTC', 1_000)
    const limiter = createLimiter({ policies: one.policies, clock: one.clock, deadlineMs: 60_000 })
    await limiter.take('acme', 5)
    for (let taken = 0; taken < 7; taken++) await limiter.take('acme')
    // nothing has been reported yet
    expect((await one.quotas.balance('acme', NAMES)).used).toBeLessThan(12)
    one.database.advance(2_500)
    one.clock.advance(1_999)
    expect((await limiter.take('acme')).allowed).toBe(true)
    await one.both(20_000)
    const days = await one.quotas.usage('acme', { from: midnight - HOUR_MS, to: midnight + HOUR_MS, ...NAMES })
    expect(days.reduce((sum, { used }) => sum + used, 0)).toBe(13)
    expect(days[0]).toMatchObject({ from: midnight - 24 * HOUR_MS })
    expect(days[0]?.used).toBeGreaterThanOrEqual(12)
    expect(await one.quotas.balance('acme', NAMES)).toMatchObject({ stranded: 0, onLease: 0 })
    limiter.close()
    await one.quotas.close()
  })
})

describe('a clock step', () => {
  test.each([40 * 24 * HOUR_MS, -40 * 24 * HOUR_MS])(
    'of the process by %i ms does not change the period',
    async (stepMs) => {
      const noon = Date.UTC(2026, 10, 3, 12)
      for (const limit of [5, 1_000]) {
        const one = processAt(noon, 'UTC', limit)
        const limiter = createLimiter({ policies: one.policies, clock: one.clock, deadlineMs: 60_000 })
        await limiter.take('acme', 3)
        one.clock.stepWall(stepMs)
        await limiter.take('acme', limit - 3)
        expect(await limiter.take('acme')).toMatchObject({ allowed: false, retryAfterMs: 12 * HOUR_MS })
        await one.both(30_000)
        expect(await one.quotas.balance('acme', NAMES)).toMatchObject({ period: '2026-11-03', used: limit, left: 0 })
        const days = await one.quotas.usage('acme', {
          from: noon - 60 * 24 * HOUR_MS,
          to: noon + 60 * 24 * HOUR_MS,
          ...NAMES,
        })
        expect(days).toMatchObject([{ used: limit }])
        limiter.close()
        await one.quotas.close()
      }
    },
  )

  test('of the database past the end of a period and back charges each unit once, to the day at that time', async () => {
    const noon = Date.UTC(2026, 10, 3, 12)
    const one = processAt(noon, 'UTC', 10)
    const limiter = createLimiter({ policies: one.policies, clock: one.clock, deadlineMs: 60_000 })
    await limiter.take('acme', 4)
    one.database.stepWall(48 * HOUR_MS)
    await limiter.take('acme', 3)
    expect(await one.quotas.balance('acme', NAMES)).toMatchObject({ period: '2026-11-05', used: 3 })
    one.database.stepWall(-48 * HOUR_MS)
    expect((await limiter.take('acme', 7)).allowed).toBe(false)
    expect((await limiter.take('acme', 6)).allowed).toBe(true)
    expect(await one.quotas.balance('acme', NAMES)).toMatchObject({ period: '2026-11-03', used: 10, left: 0 })
    const days = await one.quotas.usage('acme', { from: noon - 24 * HOUR_MS, to: noon + 96 * HOUR_MS, ...NAMES })
    expect(days.map(({ used }) => used)).toEqual([10, 3])
    limiter.close()
    await one.quotas.close()
  })
})
