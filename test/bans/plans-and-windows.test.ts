import { afterEach, describe, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { type BanInput, memoryBackend, type Observer } from '@sluice/limiter-core'
import { FakeClock, type RunningApp } from '@sluice/testkit'
import express, { type RequestHandler } from 'express'
import { running } from '../adapters/running-app.ts'
import { PairedPrimary } from '../cluster/paired.ts'
import { PromisedBackend } from '../contracts/async-backend.ts'
import { eventually } from '../services/eventually.ts'

const closes: (() => unknown)[] = []
let app: RunningApp | undefined

afterEach(async () => {
  await app?.close()
  for (const close of closes.splice(0)) close()
})

type Ask = (part: string, client?: string) => Promise<{ status: number; retryAfter: string | null }>

/** Serves a limit. Returns a function that sends a request with a plan or a window, `part`. */
async function serving(limit: RequestHandler & { close(): unknown }): Promise<Ask> {
  closes.push(() => limit.close())
  app = await running(express().use(limit, (_req, res) => void res.send('')))
  const { port } = app
  return async (part, client = 'client') => {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}/?part=${part}&client=${client}`)
    return { status, retryAfter: headers.get('retry-after') }
  }
}

const ban: BanInput = { after: 3, within: '1m', for: '10m', growth: 2, max: '1h' }
const key = (req: { query: { client?: unknown } }): string => String(req.query.client)
const BANNED = { status: 429, retryAfter: '600' }

async function statuses(ask: Ask, part: string, times: number): Promise<number[]> {
  const all: number[] = []
  for (let time = 0; time < times; time++) all.push((await ask(part)).status)
  return all
}

describe.each([
  ['the process-wide memory', ['600', '3000'], () => undefined],
  ['a memory backend', ['600', '3000'], (clock: FakeClock) => memoryBackend({ clock })],
  ['an asynchronous backend', ['3600', '1200'], (clock: FakeClock) => new PromisedBackend(clock)],
  [
    'a worker',
    ['3600', '1200'],
    (clock: FakeClock) => new PairedPrimary({ fraction: 0.1, leaseMs: 2_000 }, clock).worker(),
  ],
] as const)('bans on %s', (_, waits, backendOf) => {
  const bench = () => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const bans: unknown[] = []
    const observer: Observer = { event: (name, data) => void (name === 'ban' && bans.push(data)) }
    const backend = backendOf(clock)
    // a ban that a call to the backend begins does not delay the response to the last strike
    const begun = (count: number) => eventually(async () => bans.length === count, { what: `ban ${count}` })
    return { clock, bans, begun, options: { key, clock, ...(backend && { backend }), observers: [observer] } }
  }

  test('apply to all plans of a policy, whose denials add up', async () => {
    const { clock, bans, begun, options } = bench()
    const plans = {
      free: [{ name: 'api', limit: 1, window: '1m', ban }],
      pro: [{ name: 'api', limit: 2, window: '1m', ban }],
    } as const
    const ask = await serving(
      rateLimit({ ...options, plans, plan: (req) => (req.query.part === 'pro' ? 'pro' : 'free') }),
    )
    expect(await statuses(ask, 'pro', 4)).toEqual([200, 200, 429, 429])
    expect((await ask('free')).status).toBe(429)
    await begun(1)
    expect([await ask('free'), await ask('pro')]).toEqual([BANNED, BANNED])
    expect((await ask('free', 'other')).status).toBe(200)
    expect(bans).toEqual([{ key: 'client', policy: 'api', ms: 600_000, level: 0 }])
    clock.advance(600_000)
    expect(await statuses(ask, 'free', 4)).toEqual([200, 429, 429, 429])
    await begun(2)
    expect((await ask('pro')).retryAfter).toBe('1200')
  })

  test('of one plan apply to its requests only, if another plan has no ban', async () => {
    const { begun, options } = bench()
    const plans = {
      free: [{ name: 'free', limit: 1, window: '1m', ban }],
      pro: [{ name: 'pro', limit: 2, window: '1m' }],
    } as const
    const ask = await serving(
      rateLimit({ ...options, plans, plan: (req) => (req.query.part === 'pro' ? 'pro' : 'free') }),
    )
    expect(await statuses(ask, 'free', 4)).toEqual([200, 429, 429, 429])
    await begun(1)
    expect(await ask('free')).toEqual(BANNED)
    expect(await statuses(ask, 'pro', 3)).toEqual([200, 200, 429])
  })

  test('apply to all windows of a policy, whose denials add up', async () => {
    const { clock, bans, begun, options } = bench()
    const window = (req: { query: { part?: unknown } }) => (req.query.part === 'hour' ? '1h' : '1m')
    const ask = await serving(rateLimit({ ...options, name: 'api', limit: 1, window, ban }))
    expect(await statuses(ask, 'minute', 3)).toEqual([200, 429, 429])
    expect(await statuses(ask, 'hour', 2)).toEqual([200, 429])
    await begun(1)
    // the limit per hour has room later than the ban ends
    expect(await ask('hour')).toEqual({ ...BANNED, retryAfter: '3600' })
    // a process that does not ask its backend names the wait of the last denial
    expect((await ask('minute')).retryAfter).toBe(waits[0])
    expect((await ask('hour', 'other')).status).toBe(200)
    expect(bans).toEqual([{ key: 'client', policy: 'api', ms: 600_000, level: 0 }])
    clock.advance(600_000)
    expect(await statuses(ask, 'minute', 4)).toEqual([200, 429, 429, 429])
    await begun(2)
    expect((await ask('hour')).retryAfter).toBe(waits[1])
  })
})
