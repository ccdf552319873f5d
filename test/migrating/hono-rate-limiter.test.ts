import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { byHeader, rateLimit } from '@sluice/hono'
import { eachSeed, Warnings } from '@sluice/testkit'
import { Hono, type MiddlewareHandler } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { fakeClocks } from './same-responses.ts'

// draft 6 is the default of hono-rate-limiter
const SAME = { window: '1m', algorithm: 'fixed-window', headers: 'draft-6' } as const
const keyGenerator = (c: { req: { header(name: string): string | undefined } }): string => c.req.header('x-user') ?? ''

function appBehind(limit: MiddlewareHandler, status: 200 | 401 = 200): Hono {
  const app = new Hono()
  app.use(limit as MiddlewareHandler)
  app.get('/', (c) => c.text('ok', status))
  return app
}

const DRAFT_6 = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

async function ask(app: Hono, user = 'anna'): Promise<readonly unknown[]> {
  // a limiter that is used in the turn that creates it looks like one in a handler
  await Promise.resolve()
  const response = await app.request('/', { headers: { 'x-user': user } })
  const fields = ['retry-after', ...DRAFT_6].map((name) => response.headers.get(name))
  return [response.status, ...fields, await response.text()]
}

beforeEach(fakeClocks)
afterEach(() => {
  jest.useRealTimers()
})

describe('from hono-rate-limiter', () => {
  test('fixed windows give the same responses, request by request', async () => {
    await eachSeed(3, async (random) => {
      const message = { error: 'Too many requests' }
      const before = appBehind(rateLimiter({ windowMs: 60_000, limit: 4, keyGenerator, message }))
      const after = appBehind(rateLimit({ limit: 4, ...SAME, key: byHeader('x-user'), message }))
      const statuses = new Set<unknown>()
      for (let asked = 0; asked < 80; asked++) {
        const user = `user ${random.whole(3)}`
        const [was, is] = [await ask(before, user), await ask(after, user)]
        expect(is).toEqual(was)
        statuses.add(is[0])
        jest.advanceTimersByTime(random.whole(random.whole(5) === 0 ? 60_000 : 6_000))
      }
      expect([...statuses].sort()).toEqual([200, 429])
    })
  })

  test.each([
    { countOnly: 'failures' as const, option: { skipSuccessfulRequests: true } },
    { countOnly: 'successes' as const, option: { skipFailedRequests: true } },
  ])('a limit that counts only $countOnly gives the same statuses', async ({ countOnly, option }) => {
    for (const status of [200, 401] as const) {
      const before = appBehind(rateLimiter({ windowMs: 60_000, limit: 2, keyGenerator, ...option }), status)
      const after = appBehind(rateLimit({ limit: 2, ...SAME, key: byHeader('x-user'), countOnly }), status)
      for (let asked = 0; asked < 4; asked++) expect((await ask(after))[0]).toBe((await ask(before))[0])
    }
  })

  test('a limit that is a function stays one', async () => {
    const limit = (c: { req: { header(name: string): string | undefined } }): number =>
      c.req.header('x-user') === 'pro' ? 3 : 1
    const before = appBehind(rateLimiter({ windowMs: 60_000, limit, keyGenerator }))
    const after = appBehind(rateLimit({ limit, ...SAME, key: byHeader('x-user') }))
    for (const user of ['pro', 'pro', 'free', 'free', 'pro', 'pro']) {
      expect((await ask(after, user))[0]).toBe((await ask(before, user))[0])
    }
  })

  test('a key function that throws caused a 500, and now falls back to the address', async () => {
    const fails = (): string => {
      throw new Error('no session yet')
    }
    const warnings = new Warnings()
    warnings.listen()
    jest.spyOn(console, 'error').mockReturnValue(undefined)
    const [was] = await ask(appBehind(rateLimiter({ windowMs: 60_000, limit: 1, keyGenerator: fails })))
    const [is] = await ask(appBehind(rateLimit({ limit: 1, ...SAME, key: fails })))
    warnings.stop()
    jest.restoreAllMocks()
    expect([was, is]).toEqual([500, 200])
    expect(warnings.codes).toContain('SLUICE_KEY_FALLBACK')
  })
})
