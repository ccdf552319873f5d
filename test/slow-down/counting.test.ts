import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Backend, createSluice, DENY, type SlowDownOptions, slowDown } from '@sluice/express'
import { FakeClock, failingBackend, until, Warnings, Watcher } from '@sluice/testkit'
import express, { type Express, type Request, type Response } from 'express'
import request from 'supertest'
import { PromisedBackend } from '../contracts/async-backend.ts'
import { oddBackend } from '../contracts/computed-backend.ts'
import { HurriedClock } from './instant-clock.ts'

const warnings = new Warnings()
let clock: HurriedClock
let watcher: Watcher

beforeEach(() => {
  clock = new HurriedClock()
  watcher = new Watcher()
  warnings.listen()
})
afterEach(() => {
  warnings.stop()
})

type Options = Partial<SlowDownOptions<Request, Response>>

function limited(options: Options = {}): ReturnType<typeof slowDown> {
  const all = { after: 2, window: '1h', delayMs: 100, maxDelayMs: 300, observers: [watcher], clock, ...options }
  return slowDown(all as SlowDownOptions<Request, Response>)
}

function appOf(...limits: ReturnType<typeof slowDown>[]): Express {
  const app = express()
  for (const limit of limits) app.use(limit)
  app.all('/', (req, res) => {
    res.status(Number(req.query.status ?? 200)).send('ok')
  })
  return app
}

/** Returns how long each of these requests waited. */
async function waitsOf(app: Express, asks: number | readonly string[], headers = {}): Promise<number[]> {
  const waits: number[] = []
  for (const query of typeof asks === 'number' ? Array<string>(asks).fill('') : asks) {
    const { status } = await request(app).get(`/${query}`).set(headers)
    expect(status).toBeLessThan(429)
    waits.push(clock.waits.splice(0).reduce((sum, ms) => sum + ms, 0))
  }
  return waits
}

describe('the count of a slow-down', () => {
  test('is refunded by settle, so that only failures slow down', async () => {
    const settle = (_req: unknown, res: ServerResponse): number => (res.statusCode === 401 ? 1 : 0)
    const app = appOf(limited({ cost: { reserve: 1, settle } }))
    expect(await waitsOf(app, 5)).toEqual([0, 0, 0, 0, 0])
    const failures = Array<string>(6).fill('?status=401')
    expect(await waitsOf(app, failures)).toEqual([0, 0, 100, 200, 300, 300])
    expect(await waitsOf(app, 2)).toEqual([300, 300])
  })

  // requests after the end of the curve stayed charged, so that a client with only successes stayed slow forever
  test.each(['settle', 'refund'])('is refunded by a %s after the end of the curve as well', async (how) => {
    const settle = (_req: unknown, res: ServerResponse): number => (res.statusCode === 401 ? 1 : 0)
    const cost = how === 'settle' ? { cost: { reserve: 1, settle } } : {}
    const app = express().use(limited({ window: '1m', ...cost }))
    app.all('/', (req, res) => {
      if (how === 'refund' && !req.query.status) req.sluice?.refund()
      res.status(Number(req.query.status ?? 200)).send('ok')
    })
    await waitsOf(app, Array<string>(6).fill('?status=401'))
    const waits: number[] = []
    for (let success = 0; success < 30; success++) {
      clock.advance(5_000)
      waits.push(...(await waitsOf(app, 1)))
    }
    expect(waits.slice(-5)).toEqual(Array<number>(5).fill(0))
  })

  test('is refunded by refund, also for a request after the end of the curve', async () => {
    const app = (limit: ReturnType<typeof slowDown>): Express =>
      express().use(limit, (req, res) => {
        if (req.query.refund) req.sluice?.refund()
        res.send('ok')
      })
    expect(await waitsOf(app(limited()), Array<string>(4).fill('?refund=1'))).toEqual([0, 0, 0, 0])
    const short = app(limited({ after: 0, maxDelayMs: 100 }))
    expect(await waitsOf(short, ['', '?refund=1', '?refund=1'])).toEqual([100, 100, 100])
    expect(watcher.decisions.slice(-3).map(({ verdicts: [{ allowed }] }) => allowed)).toEqual([true, false, false])
  })

  test('can be charged and reset by handlers', async () => {
    const app = express().use(limited())
    app.get('/', (req, res) => {
      if (req.query.charge) req.sluice?.charge(Number(req.query.charge), 'slow-down')
      if (req.query.reset) req.sluice?.reset()
      res.send('ok')
    })
    expect(await waitsOf(app, ['?charge=2', '', '?reset=1', ''])).toEqual([0, 200, 300, 0])
    expect(warnings.codes).toEqual([])
  })

  test('can be reset and peeked at from outside', async () => {
    const limit = limited({ key: () => 'ann' })
    const app = appOf(limit)
    expect(await waitsOf(app, 4)).toEqual([0, 0, 100, 200])
    expect((await limit.limiter.peek('ann')).verdicts[0].remaining).toBe(1)
    await limit.limiter.reset('ann')
    expect(await waitsOf(app, 3)).toEqual([0, 0, 100])
  })

  test('is not a decision: handlers see only decisions of rate limits, and observers see no denial', async () => {
    const app = express().use(limited())
    app.get('/', (req, res) => {
      res.json([req.sluice?.decisions.length, req.sluice?.decision === undefined])
    })
    for (let asked = 0; asked < 7; asked++) expect((await request(app).get('/')).body).toEqual([0, true])
    expect(watcher.decisions.map(({ allowed }) => allowed)).toEqual(Array(7).fill(true))
    const told = watcher.events.map(({ name, data }) => [name, data.outcome, data.delayMs])
    expect(told).toEqual([100, 200, 300, 300, 300].map((ms) => ['slowed', 'waits', ms]))
  })

  test('does not include skipped requests, or any request with SLUICE_MODE=off', async () => {
    const skip = (req: Request): boolean => req.query.free !== undefined
    const app = appOf(limited({ after: 0, skip }))
    expect(await waitsOf(app, ['?free', '?free'])).toEqual([0, 0])
    process.env.SLUICE_MODE = 'off'
    try {
      expect(await waitsOf(appOf(limited({ after: 0 })), 2)).toEqual([0, 0])
    } finally {
      delete process.env.SLUICE_MODE
    }
    expect(watcher.decisions).toEqual([])
    expect(await waitsOf(app, 2)).toEqual([100, 200])
  })

  test('includes each request once, even if it passes the limiter twice', async () => {
    const limit = limited({ after: 1 })
    expect(await waitsOf(appOf(limit, limit), 3)).toEqual([0, 100, 200])
    expect(warnings.codes).toEqual(['SLUICE_LIMITER_TWICE'])
  })

  test('includes HEAD and OPTIONS like other methods', async () => {
    const app = appOf(limited({ after: 0 }))
    await request(app).head('/')
    await request(app).options('/')
    expect(clock.waits).toEqual([100, 200])
  })
})

describe('failures', () => {
  const throws = (): never => {
    throw new Error('nobody is there')
  }

  test.each<[string, Backend]>([
    ['throws', failingBackend(throws)],
    ['rejects', failingBackend(() => Promise.reject(new Error('nobody is there')))],
    ['answers nonsense', oddBackend(() => ({}))],
  ])('if the backend %s, requests are counted in this process, and the failure is reported', async (_what, backend) => {
    expect(await waitsOf(appOf(limited({ after: 1, backend })), 3)).toEqual([0, 100, 200])
    expect(watcher.count('backendFailed')).toBe(3)
    expect(warnings.codes).toEqual(['SLUICE_BACKEND_FAILED'])
  })

  test('requests pass undelayed if the failure rule allows, and wait longest if it denies', async () => {
    const allowing = limited({ after: 0, backend: failingBackend(throws), onBackendError: 'allow' })
    expect(await waitsOf(appOf(allowing), 3)).toEqual([0, 0, 0])
    const denying = limited({ after: 5, backend: failingBackend(throws), onBackendError: 'deny' })
    expect(await waitsOf(appOf(denying), 2)).toEqual([300, 300])
  })

  test('a request is counted by address if its key fails, and as one unit if its cost fails', async () => {
    const app = appOf(limited({ after: 1, key: throws, cost: throws as never }))
    expect(await waitsOf(app, 3)).toEqual([0, 100, 200])
    expect([...warnings.codes].sort()).toEqual(['SLUICE_HOOK_FAILED', 'SLUICE_KEY_FALLBACK'])
  })

  test('a key of DENY waits longest, and is not counted', async () => {
    const app = appOf(limited({ key: (req) => (req.get('x-user') as string | undefined) ?? DENY }))
    expect(await waitsOf(app, 2)).toEqual([300, 300])
    expect(await waitsOf(app, 3, { 'x-user': 'ann' })).toEqual([0, 0, 100])
  })

  test('an observer that throws is removed, and no wait changes', async () => {
    const broken = { event: throws }
    const app = appOf(limited({ observers: [broken, watcher] }))
    expect(await waitsOf(app, 4)).toEqual([0, 0, 100, 200])
    expect(warnings.codes).toEqual(['SLUICE_OBSERVER_DROPPED'])
    expect(watcher.count('slowed')).toBe(2)
  })

  test('a failed refund of a denied request is reported, and the denial stands', async () => {
    const wait = new FakeClock()
    const adjustAll = (): Promise<never> => Promise.reject(new Error('nobody is there'))
    const backend = Object.assign(new PromisedBackend(wait), { adjustAll })
    const app = appOf(limited({ after: 0, maxWaiting: 1, clock: wait, backend }))
    const first = request(app).get('/')
    const answered = first.then(({ status }) => status)
    await until(() => watcher.count('slowed') === 1)
    expect((await request(app).get('/')).status).toBe(429)
    await until(() => watcher.count('backendFailed') === 1)
    wait.advance(100)
    expect(await answered).toBe(200)
  })
})

describe('an asynchronous slow-down', () => {
  test('delays the same if key, cost, skip and backend return promises', async () => {
    const app = appOf(
      limited({
        key: async () => 'ann',
        cost: async () => 1,
        skip: async () => false,
        backend: new PromisedBackend(clock),
      }),
    )
    expect(await waitsOf(app, 6)).toEqual([0, 0, 100, 200, 300, 300])
  })

  test('does not delay a client that disconnected during the key lookup', async () => {
    let come: (key: string) => void = () => {}
    let asked = 0
    const key = (): Promise<string> =>
      new Promise((resolve) => {
        asked++
        come = resolve
      })
    const limit = limited({ after: 0, key })
    const server = appOf(limit).listen(0)
    const gone: IncomingMessage[] = []
    server.on('request', (req) => req.socket.once('close', () => gone.push(req)))
    const left = request(server).get('/')
    left.end(() => {})
    await until(() => asked === 1)
    left.abort()
    await until(() => gone.length === 1)
    come('ann')
    await until(() => watcher.decisions.length === 1)
    expect([limit.waiting(), clock.waits]).toEqual([0, []])
    server.close()
  })
})

test('a request denied because too many wait is passed to Express as an error with `next: true`', async () => {
  const wait = new FakeClock()
  const limit = slowDown({
    after: 0,
    window: '1h',
    delayMs: 2_500,
    maxDelayMs: 9_000,
    maxWaiting: 1,
    clock: wait,
    next: true,
  })
  const app = appOf(limit)
  const first = request(app).get('/')
  const answered = first.then(({ status }) => status)
  await until(() => wait.pending === 1)
  const { status, headers, text } = await request(app).get('/')
  expect([status, headers['retry-after'], headers['cache-control']]).toEqual([429, '5', 'no-store'])
  expect(text).toContain('SLUICE_DENIED')
  wait.advance(2_500)
  expect(await answered).toBe(200)
})

test('createSluice passes its backend, clock and observers to slowDown', async () => {
  const backend = new PromisedBackend(clock)
  const sluice = createSluice({ backend, clock, observers: [watcher] })
  const app = appOf(sluice.slowDown({ after: 1, window: '1h', delayMs: 100, maxDelayMs: 300 }))
  expect(await waitsOf(app, 3)).toEqual([0, 100, 200])
  expect(watcher.count('slowed')).toBe(2)
})
