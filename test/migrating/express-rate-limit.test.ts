import { createRequire } from 'node:module'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { byHeader, rateLimit } from '@sluice/express'
import { eachSeed, Warnings } from '@sluice/testkit'
import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { type App, ask, askBoth, fakeClocks, isMixed } from './same-responses.ts'

const load = createRequire(import.meta.url)
const theirs: (options: object) => RequestHandler = load('express-rate-limit').rateLimit
const SAME_WINDOWS = { window: '1m', algorithm: 'fixed-window', headers: 'legacy' } as const

function appBehind(limit: RequestHandler, status = 200): App {
  return express()
    .use(limit)
    .get('/', (_req, res) => {
      res.status(status).send('ok')
    })
}

async function fourStatuses(app: App): Promise<number[]> {
  const statuses: number[] = []
  for (let asked = 0; asked < 4; asked++) statuses.push((await ask(app)).status)
  return statuses
}

beforeEach(fakeClocks)
afterEach(() => {
  jest.useRealTimers()
})

describe('from express-rate-limit', () => {
  test('fixed windows and legacy headers give the same responses, request by request', async () => {
    await eachSeed(2, async (random) => {
      const before = appBehind(theirs({ windowMs: 60_000, limit: 5 }))
      const after = appBehind(rateLimit({ limit: 5, ...SAME_WINDOWS }))
      const [was, is] = await askBoth([before, after], random, { asks: 40, longestGapMs: 12_000 })
      expect(is).toEqual(was)
      expect(isMixed(is)).toBe(true)
    })
  })

  test.each([
    ['draft-6', { standardHeaders: true, legacyHeaders: false }, ['draft-6']],
    ['draft-6 and legacy', { standardHeaders: 'draft-6' }, ['draft-6', 'legacy']],
  ] as const)('headers of %s are the same, request by request', async (_names, options, headers) => {
    await eachSeed(1, async (random) => {
      const before = appBehind(theirs({ windowMs: 60_000, limit: 5, ...options }))
      const after = appBehind(rateLimit({ limit: 5, ...SAME_WINDOWS, headers }))
      const [was, is] = await askBoth([before, after], random, { asks: 40, longestGapMs: 12_000 })
      expect(is).toEqual(was)
      expect(is[0].headers['ratelimit-remaining']).toBe('4')
      expect(isMixed(is)).toBe(true)
    })
  })

  test.each([
    { counted: 'failures' as const, option: { skipSuccessfulRequests: true }, is: (status: number) => status >= 400 },
    { counted: 'successes' as const, option: { skipFailedRequests: true }, is: (status: number) => status < 400 },
  ])('a limit that counts only $counted gives the same responses', async ({ counted, option, is }) => {
    for (const status of [200, 401]) {
      const before = appBehind(theirs({ windowMs: 60_000, limit: 2, ...option }), status)
      const after = appBehind(rateLimit({ limit: 2, countOnly: counted, ...SAME_WINDOWS }), status)
      const seen = { before: await fourStatuses(before), after: await fourStatuses(after) }
      const expected = is(status) ? [status, status, 429, 429] : [status, status, status, status]
      expect(seen).toEqual({ before: expected, after: expected })
    }
  })

  test('a limit that is a function of the request is the same function', async () => {
    const limits: Readonly<Record<string, number>> = { anna: 1, bert: 3, carl: 0 }
    const limit = async (req: express.Request): Promise<number> => limits[req.get('x-user') as string]
    const keyGenerator = (req: express.Request): string => req.get('x-user') as string
    const before = appBehind(theirs({ windowMs: 60_000, limit, keyGenerator }))
    const after = appBehind(rateLimit({ limit, ...SAME_WINDOWS, key: byHeader('x-user') }))
    for (const user of ['anna', 'bert', 'anna', 'bert', 'carl', 'bert', 'bert']) {
      const [was, is] = [await ask(before, { 'x-user': user }), await ask(after, { 'x-user': user })]
      const names = ['x-ratelimit-limit', 'x-ratelimit-remaining']
      expect([is.status, ...names.map((name) => is.headers[name])]).toEqual([
        was.status,
        ...names.map((name) => was.headers[name]),
      ])
    }
  })

  test('keys, skipped requests and custom responses are the same', async () => {
    const message = { error: 'slow down' }
    const before = appBehind(
      theirs({
        limit: 1,
        windowMs: 60_000,
        keyGenerator: (req: express.Request) => req.get('x-user') ?? 'none',
        skip: (req: express.Request) => req.get('x-user') === 'root',
        statusCode: 420,
        message,
      }),
    )
    const after = appBehind(
      rateLimit({
        limit: 1,
        ...SAME_WINDOWS,
        key: byHeader('x-user'),
        skip: (req) => req.get('x-user') === 'root',
        status: 420,
        denied: (_req, res) => res.json(message),
      }),
    )
    for (const user of ['anna', 'anna', 'bert', 'root', 'root']) {
      const [was, is] = [
        await request(before).get('/').set('x-user', user),
        await request(after).get('/').set('x-user', user),
      ]
      expect([is.status, is.text]).toEqual([was.status, was.text])
    }
  })

  test('a key function that throws caused a 500, and now falls back to the address', async () => {
    const fails = (): string => {
      throw new Error('no session yet')
    }
    const warnings = new Warnings()
    warnings.listen()
    jest.spyOn(console, 'error').mockReturnValue(undefined)
    const before = await ask(appBehind(theirs({ limit: 1, windowMs: 60_000, keyGenerator: fails })))
    const after = await ask(appBehind(rateLimit({ limit: 1, ...SAME_WINDOWS, key: fails })))
    warnings.stop()
    jest.restoreAllMocks()
    expect([before.status, after.status, after.headers['x-ratelimit-remaining']]).toEqual([500, 200, '0'])
    expect(warnings.codes).toEqual(['SLUICE_KEY_FALLBACK'])
  })

  test('a reset and a peek by key use the counts of the requests', async () => {
    const limit = rateLimit({ limit: 1, ...SAME_WINDOWS, key: byHeader('x-user') })
    const app = appBehind(limit)
    await ask(app, { 'x-user': 'anna' })
    expect((await limit.limiter.peek('anna')).binding).toMatchObject({ remaining: 0, resetAfterMs: 60_000 })
    await limit.limiter.reset('anna')
    expect((await ask(app, { 'x-user': 'anna' })).status).toBe(200)
  })
})
