import { EventEmitter, once } from 'node:events'
import { createRequire } from 'node:module'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { rateLimit, slowDown } from '@sluice/express'
import * as honoLimits from '@sluice/hono'
import * as koaLimits from '@sluice/koa'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock, Warnings } from '@sluice/testkit'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import request from 'supertest'
import { rowOf } from './page-rows.ts'

const load = createRequire(import.meta.url)
const POLICY = { limit: 1, window: '1m' } as const
const warnings = new Warnings()
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

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
    const own = await denialOf(onExpress(rateLimit({ ...POLICY, denied: handler })))
    for (const answer of [before, own]) expect([answer.status, answer.text]).toEqual([429, 'failed: slow down'])
    expect([after.status, after.text]).toEqual([429, expect.stringContaining('failed: ')])
    expect(rowOf('express-rate-limit', 'handler')).toContain('throw that error in `denied`, or `next: true`')
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

describe('express-rate-limit, counts', () => {
  const theirs: (options: object) => RequestHandler = load('express-rate-limit').rateLimit

  /** Status of a request after one whose client left before its response. */
  async function afterLeaving(limit: RequestHandler): Promise<number> {
    const left = new EventEmitter()
    const app = express()
      .use(limit)
      .get('/hang', (_req, res) => {
        res.on('close', () => left.emit('left'))
      })
      .get('/', (_req, res) => {
        res.send('ok')
      })
    const server = app.listen(0)
    const closed = once(left, 'left')
    const hanging = connect((server.address() as AddressInfo).port)
    hanging.write('GET /hang HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(server, 'request')
    hanging.destroy()
    await closed
    await new Promise(setImmediate)
    const { status } = await request(server).get('/')
    server.close()
    return status
  }

  test('a client that leaves gets its unit back with skipFailedRequests, and with `settleOn`', async () => {
    const givingBack = rateLimit({
      ...POLICY,
      cost: {
        reserve: 1,
        settle: (_req, res, { completed }) => (completed && res.statusCode < 400 ? 1 : 0),
        settleOn: 'always',
      },
    })
    expect(await afterLeaving(theirs({ limit: 1, validate: false, skipFailedRequests: true }))).toBe(200)
    expect(await afterLeaving(rateLimit({ ...POLICY, countOnly: 'successes' }))).toBe(429)
    expect(await afterLeaving(givingBack)).toBe(200)
    expect(rowOf('express-rate-limit', 'skipFailedRequests')).toContain("settleOn: 'always'")
  })

  test('a window below a second has a unit', () => {
    expect(() => rateLimit({ limit: 1, window: 500 })).toThrow('SLUICE_BAD_DURATION')
    expect(() => rateLimit({ limit: 1, window: '500ms' })).not.toThrow()
    expect(rowOf('express-rate-limit', 'windowMs')).toContain("below, `'500ms'`")
  })

  test('a request that meets an instance twice is counted twice before, and once after', async () => {
    const before = theirs({ limit: 2, validate: false })
    const after = rateLimit({ ...POLICY, limit: 2 })
    expect((await denialOf(onExpress(express().use(before, before)))).status).toBe(429)
    expect((await denialOf(onExpress(express().use(after, after)))).status).toBe(200)
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

test('middleware in front of a limit of Koa writes the numbers under other names', async () => {
  const names: Koa.Middleware = async (ctx, next) => {
    await next()
    const { binding } = ctx.state.sluice?.decision ?? {}
    if (binding) ctx.set('Rate-Limit-Remaining', String(binding.remaining))
  }
  const app = new Koa().use(names).use(koaLimits.rateLimit({ ...POLICY, limit: 2, headers: 'none' }))
  const { headers } = await request(app.callback()).get('/')
  expect([headers['rate-limit-remaining'], headers['x-ratelimit-remaining']]).toEqual(['1', undefined])
  expect(rowOf('koa-ratelimit', 'remaining')).toContain('`ctx.state.sluice?.decision?.binding`')
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
  expect(await failed(honoLimits.rateLimit({ ...POLICY, next: true }))).toEqual([429, '60', 'failed: Error'])
  const [status, retryAfter] = await failed(honoLimits.rateLimit({ ...POLICY, headers: 'none' }))
  expect([status, retryAfter]).toEqual([429, '60'])
  expect(rowOf('hono-rate-limiter', 'handler')).toContain('`next: true`, which throws')
  jest.useRealTimers()
})

test('hono-rate-limiter: a key or skip function that throws is a 500 before, and counts the request after', async () => {
  const { rateLimiter } = load('hono-rate-limiter')
  const throws = (): never => {
    throw new Error('no key')
  }
  const statuses = async (limit: ReturnType<typeof honoLimits.rateLimit>) => {
    const app = new Hono().use(limit).get('/', (c) => c.text('ok'))
    app.onError((_error, c) => c.text('failed', 500))
    return [(await app.request('/')).status, (await app.request('/')).status]
  }
  const key = () => 'key'
  expect(await statuses(rateLimiter({ limit: 1, keyGenerator: throws }))).toEqual([500, 500])
  expect(await statuses(rateLimiter({ limit: 1, keyGenerator: key, skip: throws }))).toEqual([500, 500])
  expect(await statuses(honoLimits.rateLimit({ ...POLICY, key: throws }))).toEqual([200, 429])
  expect(await statuses(honoLimits.rateLimit({ ...POLICY, key, skip: throws }))).toEqual([200, 429])
  expect(rowOf('hono-rate-limiter', 'skip')).toContain('If it throws, the request is counted')
  expect(rowOf('hono-rate-limiter', 'keyGenerator')).toContain('If it throws, the address is counted')
})
