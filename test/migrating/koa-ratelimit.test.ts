import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { byHeader, rateLimit } from '@sluice/koa'
import { eachSeed } from '@sluice/testkit'
import Koa, { type Context, type Middleware } from 'koa'
import request from 'supertest'
import { type App, ask, askBoth, fakeClocks, isMixed, type Seen } from './same-responses.ts'

let theirs: (options: object) => Middleware
const SAME_WINDOWS = { window: '1m', algorithm: 'fixed-window', headers: 'legacy' } as const

function appBehind(limit: Middleware): App {
  const app = new Koa()
  app.use(limit)
  app.use((ctx) => {
    ctx.body = 'ok'
  })
  return app.callback()
}

/** Statuses, and the headers that both send with identical values. */
const letters = (seen: readonly Seen[]) =>
  seen.map(({ status, headers }) => [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']])
const resets = (seen: readonly Seen[]): number[] => seen.map(({ headers }) => Number(headers['x-ratelimit-reset']))
const waits = (seen: readonly Seen[]): number[] => seen.map(({ headers }) => Number(headers['retry-after'] ?? 0))

beforeAll(() => {
  fakeClocks()
  // loaded here because it reads the clock once, when it is loaded
  theirs = createRequire(import.meta.url)('koa-ratelimit')
})
afterAll(() => {
  jest.useRealTimers()
})

describe('from koa-ratelimit', () => {
  test('the same requests pass, and whole seconds replace fractional or too short ones', async () => {
    await eachSeed(2, async (random) => {
      const before = appBehind(theirs({ driver: 'memory', db: new Map(), duration: 60_000, max: 5 }))
      const after = appBehind(rateLimit({ limit: 5, ...SAME_WINDOWS }))
      const [was, is] = await askBoth([before, after], random, { asks: 40, longestGapMs: 12_000 })
      expect(letters(is)).toEqual(letters(was))
      expect(isMixed(is)).toBe(true)
      expect(resets(is)).toEqual(resets(was).map(Math.ceil))
      // koa-ratelimit rounded down, so that clients retried too early
      const later = waits(is).map((wait, index) => wait - waits(was)[index])
      expect([...new Set(later)].sort()).toEqual([0, 1])
    })
  })

  test('keys, exempt requests and custom responses are the same', async () => {
    const isRoot = (ctx: Context): boolean => ctx.get('x-user') === 'root'
    const options = { driver: 'memory', db: new Map(), duration: 60_000, max: 1, status: 420, errorMessage: 'later' }
    const before = appBehind(theirs({ ...options, id: (ctx: Context) => ctx.get('x-user'), whitelist: isRoot }))
    const after = appBehind(
      rateLimit({
        limit: 1,
        ...SAME_WINDOWS,
        key: byHeader('x-user'),
        skip: isRoot,
        status: 420,
        denied: (ctx) => {
          ctx.body = 'later'
        },
      }),
    )
    const seen: [unknown, unknown][] = []
    for (const user of ['anna', 'anna', 'bert', 'root', 'root']) {
      const [was, is] = [
        await request(before).get('/').set('x-user', user),
        await request(after).get('/').set('x-user', user),
      ]
      seen.push([
        [was.status, was.text],
        [is.status, is.text],
      ])
    }
    expect(seen.map(([, is]) => is)).toEqual(seen.map(([was]) => was))
    expect(seen.map(([, is]) => (is as [number])[0])).toEqual([200, 420, 200, 200, 200])
  })

  test('a denial that was thrown reaches the error handling of the application with the same status', async () => {
    const caught = (limit: Middleware): App => {
      const app = new Koa()
      app.use(async (ctx, next) => {
        await next().catch(({ status, headers }) => {
          ctx.status = status
          ctx.body = { wait: headers['Retry-After'] }
        })
      })
      app.use(limit)
      return app.callback()
    }
    const before = caught(theirs({ driver: 'memory', db: new Map(), duration: 60_000, max: 1, throw: true }))
    const after = caught(rateLimit({ limit: 1, ...SAME_WINDOWS, next: true }))
    const seen: unknown[][] = []
    for (const app of [before, before, after, after]) {
      const { status, body } = await request(app).get('/')
      seen.push([status, Number(body.wait)])
    }
    expect([seen[1], seen[3]]).toEqual([
      [429, 60],
      [429, 60],
    ])
  })

  test('a memory driver without its own map limits no client; Sluice needs no such option', async () => {
    const before = appBehind(theirs({ driver: 'memory', duration: 60_000, max: 1 }))
    const after = appBehind(rateLimit({ limit: 1, window: '1m' }))
    const statuses = async (app: App) => [(await ask(app)).status, (await ask(app)).status, (await ask(app)).status]
    expect(await statuses(before)).toEqual([200, 200, 200])
    expect(await statuses(after)).toEqual([200, 429, 429])
  })
})
