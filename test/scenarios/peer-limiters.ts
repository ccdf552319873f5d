import { createRequire } from 'node:module'
import { byHeader, createLimiter, rateLimit } from '@sluice/express'
import request from 'supertest'

// the peers have their own types, loose types or no types, and are used here as from JavaScript
const load = createRequire(import.meta.url)

/** A limit in memory, configured as the library documents: takes a unit and returns whether it was admitted. */
type MakeCounter = (limit: number, windowMs: number) => (key: string) => Promise<boolean>

/** Returns status and media type of the second response of an application with a limit of 1 per minute. */
type DeniedAnswer = () => Promise<{ status: number; type: string }>

/**
 * Two limits of 10 and 1 per hour on each request, the larger one first, stacked as the library documents. Sends
 * five requests and returns how many passed and how much of the larger limit is left.
 */
type StackedLimits = () => Promise<{ passed: number; leftOfWide: number }>

export interface Peer {
  readonly counter: MakeCounter
  readonly denied?: DeniedAnswer
  readonly stacked: StackedLimits
}

const HOUR_MS = 3_600_000
const PAIR = { wide: 10, narrow: 1 } as const

async function deniedBy(app: unknown): Promise<{ status: number; type: string }> {
  await request(app as never).get('/')
  const { status, type } = await request(app as never).get('/')
  return { status, type }
}

async function five(ask: () => Promise<boolean>): Promise<number> {
  let passed = 0
  for (let asked = 0; asked < 5; asked++) if (await ask()) passed++
  return passed
}

async function fiveOver(app: unknown): Promise<number> {
  return five(async () => (await request(app as never).get('/')).status === 200)
}

function expressApp(...middleware: unknown[]): unknown {
  const app = load('express')()
  app.use(...middleware, (_req: unknown, res: { send(body: string): void }) => res.send('ok'))
  return app
}

const sluice: Peer = {
  counter(limit, windowMs) {
    const limiter = createLimiter({ policies: [{ limit, window: `${windowMs}ms`, algorithm: 'fixed-window' }] })
    return async (key) => limiter.take(key).allowed
  },
  denied: () => deniedBy(expressApp(rateLimit({ limit: 1, window: '1m' }))),
  async stacked() {
    const policies = Object.entries(PAIR).map(([name, limit]) => ({ name, limit, window: '1h' }) as const)
    const limit = rateLimit({ policies, key: byHeader('x-user') })
    const app = expressApp(limit)
    const passed = await five(
      async () =>
        (
          await request(app as never)
            .get('/')
            .set('x-user', 'anna')
        ).status === 200,
    )
    const { verdicts } = await limit.limiter.peek('anna')
    return { passed, leftOfWide: verdicts[0].remaining }
  },
}

const expressRateLimit: Peer = {
  counter(limit, windowMs) {
    const { MemoryStore } = load('express-rate-limit')
    const store = new MemoryStore()
    store.init({ windowMs })
    return async (key) => (await store.increment(key)).totalHits <= limit
  },
  denied() {
    const { rateLimit: limit } = load('express-rate-limit')
    return deniedBy(expressApp(limit({ limit: 1, windowMs: 60_000 })))
  },
  async stacked() {
    const { rateLimit: limit, MemoryStore } = load('express-rate-limit')
    const store = new MemoryStore()
    const keyGenerator = (): string => 'anna'
    const app = expressApp(
      limit({ limit: PAIR.wide, windowMs: HOUR_MS, store, keyGenerator }),
      limit({ limit: PAIR.narrow, windowMs: HOUR_MS, keyGenerator }),
    )
    const passed = await fiveOver(app)
    const { totalHits } = await store.get('anna')
    store.shutdown()
    return { passed, leftOfWide: PAIR.wide - totalHits }
  },
}

const rateLimiterFlexible: Peer = {
  counter(limit, windowMs) {
    const { RateLimiterMemory } = load('rate-limiter-flexible')
    const limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1_000 })
    return (key) => passedOf(limiter.consume(key))
  },
  async stacked() {
    const { RateLimiterMemory, RateLimiterUnion } = load('rate-limiter-flexible')
    const [wide, narrow] = Object.entries(PAIR).map(
      ([keyPrefix, points]) => new RateLimiterMemory({ keyPrefix, points, duration: 3_600 }),
    )
    const union = new RateLimiterUnion(wide, narrow)
    const passed = await five(() => passedOf(union.consume('anna')))
    const { consumedPoints } = await wide.get('anna')
    await wide.delete('anna')
    await narrow.delete('anna')
    return { passed, leftOfWide: PAIR.wide - consumedPoints }
  },
}

const fastifyRateLimit: Peer = {
  counter(limit, windowMs) {
    const LocalStore = load('@fastify/rate-limit/store/LocalStore.js')
    const store = new LocalStore(false, false)
    return (key) =>
      new Promise((resolve) => {
        const answer = (_error: unknown, { current }: { current: number }): void => resolve(current <= limit)
        store.incr(key, answer, windowMs, limit)
      })
  },
  async denied() {
    const app = load('fastify')()
    await app.register(load('@fastify/rate-limit'), { max: 1, timeWindow: 60_000 })
    app.get('/', async () => 'ok')
    await app.inject('/')
    const { statusCode, headers } = await app.inject('/')
    await app.close()
    return { status: statusCode, type: String(headers['content-type']).split(';')[0] }
  },
  async stacked() {
    const app = load('fastify')()
    await app.register(load('@fastify/rate-limit'), { global: false })
    const preHandler = Object.values(PAIR).map((max) => app.rateLimit({ max, timeWindow: HOUR_MS }))
    app.get('/', { preHandler }, async () => 'ok')
    let left = Number.NaN
    const passed = await five(async () => {
      const { statusCode, headers } = await app.inject('/')
      left = Number(headers['x-ratelimit-remaining'])
      return statusCode === 200
    })
    await app.close()
    return { passed, leftOfWide: left }
  },
}

const nestjsThrottler: Peer = {
  counter(limit, windowMs) {
    const { ThrottlerStorageService } = load('@nestjs/throttler')
    const storage = new ThrottlerStorageService()
    return async (key) => !(await storage.increment(key, windowMs, limit, windowMs, 'default')).isBlocked
  },
  async stacked() {
    load('reflect-metadata')
    const { ThrottlerGuard, ThrottlerStorageService } = load('@nestjs/throttler')
    const { Reflector } = load('@nestjs/core')
    const storage = new ThrottlerStorageService()
    const throttlers = Object.entries(PAIR).map(([name, limit]) => ({ name, limit, ttl: HOUR_MS }))
    const guard = new ThrottlerGuard({ throttlers }, storage, new Reflector())
    await guard.onModuleInit()
    let left = Number.NaN
    const header = (name: string, value: number): void => {
      if (name === 'X-RateLimit-Remaining-wide') left = value
    }
    class Controller {}
    const handler = (): void => undefined
    const http = { getRequest: () => ({ ip: '203.0.113.9', headers: {} }), getResponse: () => ({ header }) }
    const context = { getHandler: () => handler, getClass: () => Controller, switchToHttp: () => http }
    const passed = await five(() => passedOf(guard.canActivate(context)))
    storage.onApplicationShutdown()
    return { passed, leftOfWide: left }
  },
}

const koaRatelimit: Peer = {
  counter(limit, windowMs) {
    const MemoryLimiter = load('koa-ratelimit/limiter/memory.js')
    const options = { driver: 'memory', db: new Map(), max: limit, duration: windowMs }
    return async (key) => (await new MemoryLimiter({ ...options, id: key }).get()).remaining > 0
  },
  denied() {
    const app = new (load('koa'))()
    app.use(load('koa-ratelimit')({ driver: 'memory', db: new Map(), max: 1, duration: 60_000 }))
    app.use((ctx: { body: string }) => {
      ctx.body = 'ok'
    })
    return deniedBy(app.callback())
  },
  async stacked() {
    const app = new (load('koa'))()
    const ratelimit = load('koa-ratelimit')
    const [wide, narrow] = Object.entries(PAIR).map(([namespace, max]) =>
      ratelimit({
        driver: 'memory',
        db: new Map(),
        namespace,
        max,
        duration: HOUR_MS,
        headers: { remaining: namespace },
      }),
    )
    app.use(wide)
    app.use(narrow)
    app.use((ctx: { body: string }) => {
      ctx.body = 'ok'
    })
    let left = Number.NaN
    const passed = await five(async () => {
      const { status, headers } = await request(app.callback()).get('/')
      left = Number(headers.wide)
      return status === 200
    })
    return { passed, leftOfWide: left }
  },
}

const honoRateLimiter: Peer = {
  counter(limit, windowMs) {
    const { MemoryStore } = load('hono-rate-limiter')
    const store = new MemoryStore()
    store.init({ windowMs })
    return async (key) => store.increment(key).totalHits <= limit
  },
  async denied() {
    const ask = honoApp({ limit: 1, windowMs: 60_000 })
    await ask()
    const { status, headers } = await ask()
    return { status, type: String(headers.get('content-type')).split(';')[0] }
  },
  async stacked() {
    const { MemoryStore } = load('hono-rate-limiter')
    const store = new MemoryStore()
    const ask = honoApp({ limit: PAIR.wide, windowMs: HOUR_MS, store }, { limit: PAIR.narrow, windowMs: HOUR_MS })
    const passed = await five(async () => (await ask()).status === 200)
    return { passed, leftOfWide: PAIR.wide - store.get('anna').totalHits }
  },
}

function honoApp(...limits: readonly object[]): () => Promise<Response> {
  const app = new (load('hono').Hono)()
  for (const options of limits) {
    app.use(load('hono-rate-limiter').rateLimiter({ keyGenerator: () => 'anna', ...options }))
  }
  app.get('/', (c: { text(body: string): Response }) => c.text('ok'))
  return async () => app.request('/')
}

async function passedOf(attempt: Promise<unknown>): Promise<boolean> {
  return attempt.then(
    () => true,
    () => false,
  )
}

export const peers: Readonly<Record<string, Peer>> = {
  Sluice: sluice,
  'express-rate-limit': expressRateLimit,
  'rate-limiter-flexible': rateLimiterFlexible,
  '@fastify/rate-limit': fastifyRateLimit,
  '@nestjs/throttler': nestjsThrottler,
  'koa-ratelimit': koaRatelimit,
  'hono-rate-limiter': honoRateLimiter,
}

/** A limit of 10: takes 5, asks for 8, and returns whether the 5 left still pass. Only for libraries with costs. */
export const costlyAsks: Readonly<Record<string, () => Promise<boolean>>> = {
  Sluice: async () => {
    const limiter = createLimiter({ policies: [{ limit: 10, window: '1h' }] })
    limiter.take('anna', 5)
    limiter.take('anna', 8)
    return limiter.take('anna', 5).allowed
  },
  'rate-limiter-flexible': async () => {
    const { RateLimiterMemory } = load('rate-limiter-flexible')
    const limiter = new RateLimiterMemory({ points: 10, duration: 3_600 })
    await passedOf(limiter.consume('anna', 5))
    await passedOf(limiter.consume('anna', 8))
    const last = await passedOf(limiter.consume('anna', 5))
    await limiter.delete('anna')
    return last
  },
}
