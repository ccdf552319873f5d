import { describe, expect, test } from '@jest/globals'
import {
  byHeader,
  type LimitOverridesOptions,
  limitOverrides,
  memoryBackend,
  RateLimit,
  type RateLimitOptions,
  rateLimit,
} from '@sluice/express'
import { sluice } from '@sluice/fastify'
import { FakeClock } from '@sluice/testkit'
import express, { type Express, type Request, type Response } from 'express'
import { fastify } from 'fastify'
import request from 'supertest'
import { endedAfterEach } from '../../services/for-tests.ts'

const closes = endedAfterEach<() => void>((close) => close())

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const

type Options = RateLimitOptions<Request, Response>

/** An application with limits by the header `x-user`, whose overrides are loaded every second. */
function served(options: (overrides: ReturnType<typeof limitOverrides>) => object, more: object = {}) {
  const clock = new FakeClock()
  const source: { limits: Record<string, number> } = { limits: { big: 20, small: 2 } }
  const loading = { load: () => source.limits, clock, refreshMs: '1s', ...more } as LimitOverridesOptions
  const overrides = limitOverrides(loading)
  const limit = rateLimit({
    key: byHeader('x-user'),
    clock,
    backend: memoryBackend({ clock }),
    ...options(overrides),
  } as object as Options)
  closes.push(
    () => limit.close(),
    () => overrides.close(),
  )
  const app = express()
  app.use(limit)
  app.get('/', (_req, res) => {
    res.send('ok')
  })
  const change = (limits: Record<string, number>): void => {
    source.limits = limits
    clock.advance(1_000)
  }
  return { app, change }
}

function as(app: Express, user: string) {
  return request(app).get('/').set('x-user', user)
}

/** Status and headers that a client reads. */
function seen({ status, headers }: { status: number; headers: Readonly<Record<string, string>> }) {
  return [status, headers['ratelimit-policy'], headers.ratelimit]
}

describe('rateLimit with overrides', () => {
  test('shows each key its own limit', async () => {
    const { app } = served((overrides) => ({ name: 'api', limit: 10, ...MINUTE, overrides }))
    expect(seen(await as(app, 'big'))).toEqual([200, '"api";q=20;w=60', '"api";r=19;t=60'])
    expect(seen(await as(app, 'small'))).toEqual([200, '"api";q=2;w=60', '"api";r=1;t=60'])
    expect(seen(await as(app, 'other'))).toEqual([200, '"api";q=10;w=60', '"api";r=9;t=60'])
  })

  test('denies by the limit of the key', async () => {
    const { app } = served((overrides) => ({ name: 'api', limit: 10, ...MINUTE, overrides }))
    await as(app, 'small')
    await as(app, 'small')
    const denied = await as(app, 'small')
    expect(seen(denied)).toEqual([429, '"api";q=2;w=60', '"api";r=0;t=60'])
    expect(denied.headers['retry-after']).toBe('60')
    expect(JSON.parse(denied.text)).toMatchObject({ 'violated-policies': ['api'] })
  })

  test('shows the limit of the key in legacy headers and next to a partition key', async () => {
    const { app } = served((overrides) => ({
      name: 'api',
      limit: 10,
      ...MINUTE,
      overrides,
      headers: ['draft', 'legacy'],
      partitionKey: { secret: 'sixteen secret bytes' },
    }))
    const { headers } = await as(app, 'big')
    expect(headers['x-ratelimit-limit']).toBe('20')
    expect(headers['ratelimit-policy']).toMatch(/^"api";q=20;w=60;pk=:/)
  })

  test('with several policies shows the limit of each, and takes all or none', async () => {
    const { app } = served((overrides) => ({
      policies: [
        { name: 'a', limit: 10, ...MINUTE, overrides },
        { name: 'b', limit: 5, ...MINUTE },
      ],
    }))
    expect(seen(await as(app, 'big'))[1]).toBe('"a";q=20;w=60, "b";q=5;w=60')
    for (let times = 0; times < 4; times++) await as(app, 'small')
    expect(seen(await as(app, 'small')).slice(1)).toEqual(['"a";q=2;w=60, "b";q=5;w=60', '"a";r=0;t=60'])
    expect(seen(await as(app, 'small'))[2]).toBe('"a";r=0;t=60')
  })

  test('does not count an exempt client, and shows only the other policies', async () => {
    const { app } = served(
      (overrides) => ({
        policies: [
          { name: 'a', limit: 10, ...MINUTE, overrides },
          { name: 'b', limit: 5, ...MINUTE },
        ],
      }),
      { others: 'exempt' },
    )
    expect(seen(await as(app, 'other'))).toEqual([200, '"b";q=5;w=60', '"b";r=4;t=60'])
    expect(seen(await as(app, 'small'))[2]).toBe('"a";r=1;t=60, "b";r=4;t=60')
  })

  test('sends no headers to a client that is exempt from all policies', async () => {
    const { app } = served((overrides) => ({ limit: 1, ...MINUTE, overrides }), { others: 'exempt' })
    for (let times = 0; times < 3; times++) {
      expect(seen(await as(app, 'other'))).toEqual([200, undefined, undefined])
    }
  })

  test('applies the limit of a client to its preflights', async () => {
    const { app } = served((overrides) => ({ name: 'api', limit: 10, ...MINUTE, overrides }))
    const preflight = () =>
      request(app)
        .options('/')
        .set({ origin: 'https://a.example', 'access-control-request-method': 'GET', 'x-user': 'small' })
    const first = await preflight()
    expect(first.headers['ratelimit-policy']).toBe('"api";q=2;w=60')
    await preflight()
    expect((await preflight()).status).toBe(429)
    expect((await as(app, 'small')).status).toBe(200)
  })

  test('settles the count that was charged, whatever the limit is by then', async () => {
    let change: (limits: Record<string, number>) => void = () => {}
    const settle = (): number => {
      change({ big: 30 })
      return 1
    }
    const cost = { reserve: 10, settle }
    const { app, change: changed } = served((overrides) => ({ name: 'api', limit: 10, ...MINUTE, overrides, cost }))
    change = changed
    expect(seen(await as(app, 'big'))[2]).toBe('"api";r=10;t=60')
    // 1 of the first request is left of its 10
    expect(seen(await as(app, 'big')).slice(1)).toEqual(['"api";q=30;w=60', '"api";r=19;t=59'])
  })

  test('refunds nothing to a client that was exempt, even if a limit has been added since', async () => {
    let change: (limits: Record<string, number>) => void = () => {}
    const settle = (): number => {
      change({ other: 5 })
      return 0
    }
    const { app, change: changed } = served(
      (overrides) => ({
        policies: [
          { name: 'a', limit: 10, ...MINUTE, overrides, cost: { reserve: 1, settle } },
          { name: 'b', limit: 50, ...MINUTE },
        ],
      }),
      { others: 'exempt' },
    )
    change = changed
    await as(app, 'other')
    expect(seen(await as(app, 'other'))[2]).toContain('"b";r=48')
  })

  test('applies to plans, each of which has its own overrides', async () => {
    const { app, change } = served((overrides) => ({
      plans: {
        free: [{ name: 'api', limit: 5, ...MINUTE, overrides }],
        pro: [{ name: 'api', limit: 50, ...MINUTE }],
      },
      plan: (req: Request) => req.get('x-plan') ?? 'free',
    }))
    expect(seen(await as(app, 'big'))[1]).toBe('"api";q=20;w=60')
    expect(seen(await as(app, 'big').set('x-plan', 'pro')).slice(1)).toEqual(['"api";q=50;w=60', '"api";r=48;t=60'])
    change({ big: 6 })
    expect(seen(await as(app, 'big')).slice(1)).toEqual(['"api";q=6;w=60', '"api";r=3;t=59'])
  })
})

test('a decorated handler supports overrides like a middleware', async () => {
  const overrides = limitOverrides({ limits: { big: 20 } })
  class Controller {
    @RateLimit({ name: 'api', limit: 10, ...MINUTE, overrides, key: byHeader('x-user') })
    list(_req: Request, res: Response): void {
      res.send('ok')
    }
  }
  const controller = new Controller()
  const app = express().get('/', (...asked) => controller.list(asked[0], asked[1]))
  expect(seen(await as(app, 'big'))[1]).toBe('"api";q=20;w=60')
})

describe('the Fastify plugin with overrides', () => {
  test('applies them to the policies of a parent layer, on routes that add their own policies', async () => {
    const app = fastify()
    const overrides = limitOverrides({ limits: { big: 20 } })
    await app.register(sluice, {
      rateLimit: { name: 'api', limit: 10, ...MINUTE, overrides, key: byHeader('x-user') },
    })
    const config = { sluice: { rateLimit: { name: 'route', limit: 3, ...MINUTE, key: byHeader('x-user') } } }
    app.get('/', { config }, async () => 'ok')
    const { headers } = await app.inject({ url: '/', headers: { 'x-user': 'big' } })
    expect(headers['ratelimit-policy']).toBe('"api";q=20;w=60, "route";q=3;w=60')
    await app.close()
  })
})
