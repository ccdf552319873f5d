import { createRequire } from 'node:module'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { rateLimit, slowDown } from '@sluice/express'
import { type FastifySluiceOptions, sluice } from '@sluice/fastify'
import * as honoLimits from '@sluice/hono'
import * as koaLimits from '@sluice/koa'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock, Warnings } from '@sluice/testkit'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { type FastifyInstance, fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import request from 'supertest'
import { pageText } from '../docs/blocks.ts'

const load = createRequire(import.meta.url)
const POLICY = { limit: 1, window: '1m' } as const
const warnings = new Warnings()
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

/** The rows of a section of docs/migrating.md that name an option. */
function rowOf(library: string, option: string): string {
  const section = pageText('docs/migrating.md')
    .split(/^## From /m)
    .find((part) => part.startsWith(library))
  const row = section?.split('\n').find((line) => line.startsWith('|') && line.split('|')[1].includes(`\`${option}\``))
  if (row === undefined) throw new Error(`no row for ${option} of ${library}`)
  return row
}

function onExpress(limit: RequestHandler): express.Express {
  const failed: ErrorRequestHandler = (error, _req, res, _next) => {
    res.status(error.status ?? 500).send(`failed: ${error.message}`)
  }
  return express()
    .use(limit)
    .get('/', (_req, res) => {
      res.send('ok')
    })
    .use(failed)
}

async function denialOf(app: express.Express) {
  await request(app).get('/')
  return request(app).get('/')
}

describe('express-rate-limit', () => {
  const theirs: (options: object) => RequestHandler = load('express-rate-limit').rateLimit

  test('writes Retry-After only with other headers, and Sluice always', async () => {
    const before = await denialOf(onExpress(theirs({ limit: 1, legacyHeaders: false })))
    const after = await denialOf(onExpress(rateLimit({ ...POLICY, headers: 'none' })))
    expect([before.status, before.headers['retry-after']]).toEqual([429, undefined])
    expect([after.status, after.headers['retry-after'], after.headers.ratelimit]).toEqual([429, '60', undefined])
    expect(rowOf('express-rate-limit', 'standardHeaders')).toContain("`Retry-After` with `headers: 'none'`")
  })

  test('a handler that throws reaches the error handler, as `next: true` does', async () => {
    const error = Object.assign(new Error('slow down'), { status: 429 })
    const handler = (): never => {
      throw error
    }
    const before = await denialOf(onExpress(theirs({ limit: 1, handler })))
    const after = await denialOf(onExpress(rateLimit({ ...POLICY, next: true })))
    expect([before.status, before.text]).toEqual([429, 'failed: slow down'])
    expect([after.status, after.text]).toEqual([429, expect.stringContaining('failed: ')])
    expect(rowOf('express-rate-limit', 'handler')).toContain('or threw: `next: true`')
  })

  test('a skip that throws is a 500 before, and counts the request after', async () => {
    const skip = (): never => {
      throw new Error('skip')
    }
    expect((await request(onExpress(theirs({ limit: 1, skip }))).get('/')).status).toBe(500)
    const app = onExpress(rateLimit({ ...POLICY, skip }))
    expect([(await request(app).get('/')).status, (await request(app).get('/')).status]).toEqual([200, 429])
    expect(warnings.codes).toContain('SLUICE_HOOK_FAILED')
    expect(rowOf('express-rate-limit', 'skip')).toContain('If `skip` throws, the request is counted')
  })
})

test('express-slow-down accepts a delay of 0, and slowDown does not', () => {
  expect(() => load('express-slow-down').slowDown({ delayAfter: 1, delayMs: 0 })).not.toThrow()
  const slow = { after: 1, window: '1m', maxDelayMs: 10 } as const
  expect(() => slowDown({ ...slow, delayMs: 0 })).toThrow('SLUICE_BAD_OPTION')
  expect(() => slowDown({ ...slow, delayMs: 1, mode: 'shadow' })).not.toThrow()
  expect(rowOf('express-slow-down', 'delayMs')).toContain('0 is not valid')
})

test('koa-ratelimit writes Retry-After with disableHeader, as Sluice does without headers', async () => {
  const theirs = load('koa-ratelimit')
  const denied = async (limit: Koa.Middleware) => {
    const server = new Koa()
      .use(limit)
      .use((ctx) => {
        ctx.body = 'ok'
      })
      .callback()
    await request(server).get('/')
    return (await request(server).get('/')).headers['retry-after']
  }
  const before = theirs({ driver: 'memory', db: new Map(), duration: 60_000, max: 1, disableHeader: true })
  expect(await denied(before)).toMatch(/^(?:59|60)$/)
  expect(await denied(koaLimits.rateLimit({ ...POLICY, headers: 'none' }))).toBe('60')
  expect(rowOf('koa-ratelimit', 'disableHeader')).toContain('A denial has `Retry-After` all the same')
})

describe('@fastify/rate-limit', () => {
  const theirs = load('@fastify/rate-limit')

  async function asked(plugin: typeof sluice, options: object, times = 2) {
    const app: FastifyInstance = fastify()
    await app.register(plugin, options as FastifySluiceOptions)
    app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
      reply.code(error.statusCode ?? 500).send({ failed: error.message })
    })
    app.get('/', async () => 'ok')
    const answers = []
    for (let time = 0; time < times; time++) answers.push(await app.inject('/'))
    await app.close()
    return answers
  }

  test('an error of errorResponseBuilder reaches the error handler, as one that denied sends', async () => {
    const error = Object.assign(new Error('slow down'), { statusCode: 418 })
    const before = await asked(theirs, { max: 1, errorResponseBuilder: () => error })
    const denied = (_request: unknown, reply: { send(value: unknown): void }): void => reply.send(error)
    const after = await asked(sluice, { rateLimit: { ...POLICY, denied } })
    for (const [, answer] of [before, after])
      expect([answer.statusCode, answer.json()]).toEqual([418, { failed: 'slow down' }])
    expect(rowOf('@fastify/rate-limit', 'errorResponseBuilder')).toContain(
      '`denied: (request, reply) => reply.send(error)`',
    )
  })

  test('addHeaders is about denials, and addHeadersOnExceeding about allowed requests', async () => {
    const none = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false }
    const limitOf = (answers: readonly { headers: object }[]): boolean[] =>
      answers.map(({ headers }) => 'x-ratelimit-limit' in headers)
    const legacy = { ...POLICY, headers: 'legacy' } as const
    expect(limitOf(await asked(theirs, { max: 1, addHeaders: { ...none, 'retry-after': false } }))).toEqual([
      true,
      false,
    ])
    expect(limitOf(await asked(sluice, { rateLimit: { ...legacy, headers: 'none' } }))).toEqual([false, false])
    expect(limitOf(await asked(theirs, { max: 1, addHeadersOnExceeding: none }))).toEqual([false, true])
    expect(limitOf(await asked(sluice, { rateLimit: { ...legacy, headersOn: 'denied' } }))).toEqual([false, true])
    expect(rowOf('@fastify/rate-limit', 'addHeadersOnExceeding')).toContain("`headersOn: 'denied'`")
  })

  test('onBanReach is the event ban of observers, with the key', async () => {
    const bans: unknown[] = []
    const observers = [{ event: (name: string, data: unknown) => name === 'ban' && bans.push(data) }]
    const ban = { after: 1, within: '1m', for: '1m' } as const
    await asked(sluice, { rateLimit: { ...POLICY, ban, observers } }, 4)
    expect(bans).toEqual([
      expect.objectContaining({ key: '127.0.0.1', policy: expect.anything(), ms: 60_000, level: 0 }),
    ])
  })
})

describe('waits of denied clients', () => {
  const ban = { after: 1, within: '1m', for: '1m' } as const

  function limiterWith(own: object) {
    const clock = new FakeClock()
    const limiter = createLimiter({ ...POLICY, algorithm: 'fixed-window', ban: { ...ban, ...own }, clock })
    const deny = (): number => Math.round(limiter.take('key').retryAfterMs / 1_000)
    limiter.take('key')
    return { clock, limiter, deny }
  }

  test('each request of a denied client restarts its wait with extend, the counterpart of continueExceeding', () => {
    const { clock, deny } = limiterWith({ extend: true })
    deny()
    clock.advance(40_000)
    expect(deny()).toBe(60)
    expect(rowOf('@fastify/rate-limit', 'continueExceeding')).toContain('extend: true')
  })

  test('each further ban is twice as long with growth, the counterpart of exponentialBackoff', () => {
    const { clock, limiter, deny } = limiterWith({ growth: 2 })
    const waits = [0, 1, 2].map(() => {
      deny()
      const wait = deny()
      clock.advance(wait * 1_000)
      limiter.take('key')
      return wait
    })
    expect(waits).toEqual([60, 120, 240])
    expect(rowOf('@fastify/rate-limit', 'exponentialBackoff')).toContain('growth: 2')
  })

  test('a ban that is shorter than the window gives no units back, unlike a blockDuration below ttl', () => {
    const { clock, limiter, deny } = limiterWith({ for: '10s' })
    deny()
    clock.advance(10_000)
    const { allowed, source } = limiter.peek('key')
    expect([allowed, source]).toEqual([false, 'memory'])
    expect(rowOf('@nestjs/throttler', 'blockDuration')).toContain('A `blockDuration` below `ttl`: no counterpart')
  })
})

test('hono-rate-limiter: a handler that threw is `next: true`, and a denial has Retry-After without other headers', async () => {
  const failed = async (limit: ReturnType<typeof honoLimits.rateLimit>) => {
    const app = new Hono().use(limit).get('/', (c) => c.text('ok'))
    app.onError((error, c) => c.text(`failed: ${error.name}`, 429))
    await app.request('/')
    const answer = await app.request('/')
    return [answer.status, answer.headers.get('retry-after'), await answer.text()]
  }
  expect(await failed(honoLimits.rateLimit({ ...POLICY, next: true }))).toEqual([429, null, 'failed: Error'])
  const [status, retryAfter] = await failed(honoLimits.rateLimit({ ...POLICY, headers: 'none' }))
  expect([status, retryAfter]).toEqual([429, '60'])
  expect(rowOf('hono-rate-limiter', 'handler')).toContain('`next: true`, which throws')
  jest.useRealTimers()
})
