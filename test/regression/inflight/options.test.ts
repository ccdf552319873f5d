import { createServer } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { Controller, Get } from '@nestjs/common'
import { InflightLimit as ExpressInflightLimit, inflightLimit as expressCap } from '@sluice/express'
import { sluice as fastifySluice } from '@sluice/fastify'
import { InflightGate, type InflightLimitOptions } from '@sluice/http'
import { inflightLimit as koaCap } from '@sluice/koa'
import { createInflightLimiter, DENY, type InflightBackend, type RequestView } from '@sluice/limiter-core'
import { InflightLimit as NestInflightLimit, SluiceModule } from '@sluice/nest'
import {
  createSluice,
  guardContinue,
  InflightLimit,
  inflightLimit,
  limitConnections,
  limitUpgrade,
} from '@sluice/node-http'
import { redisInflight } from '@sluice/redis'
import { sketchInflight } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'
import { type FastifyPluginAsync, fastify } from 'fastify'
import { type AppOptions, nestApp } from '../../nest/nest-app.ts'

type Options = Omit<InflightLimitOptions<never, never>, 'denied' | 'key' | 'skip'>
type Make = (options: Options) => unknown

const runner = { run: () => new Promise<unknown>(() => {}) }

function onMethod(decorate: (options: Options) => unknown): Make {
  return (options) => {
    const method = { kind: 'method', name: 'home', metadata: {}, addInitializer: () => {} }
    return (decorate(options) as (...args: unknown[]) => unknown)(() => {}, method)
  }
}

function registered(options: object): Promise<unknown> {
  return Promise.resolve(
    fastify()
      .register(fastifySluice as FastifyPluginAsync<object>, options)
      .ready(),
  )
}

async function started(options: AppOptions): Promise<void> {
  await (await nestApp('Express', options)).close()
}

async function routed(options: object): Promise<unknown> {
  const app = fastify()
  await app.register(fastifySluice)
  app.get('/', { config: { sluice: { inflightLimit: options } } as object }, async () => 'ok')
  return app.ready()
}

/** All places that accept the options of a cap. */
const PLACES: Readonly<Record<string, Make>> = {
  createInflightLimiter: ({ limit, maxHoldMs }) => createInflightLimiter({ limit, maxHoldMs }),
  'a cap on redisInflight': ({ limit, maxHoldMs }) =>
    createInflightLimiter({ limit, maxHoldMs, backend: redisInflight(runner) }),
  'a cap on sketchInflight': ({ limit, maxHoldMs }) =>
    createInflightLimiter({ limit, maxHoldMs, backend: sketchInflight() }),
  redisInflight: ({ limit, maxHoldMs }) => redisInflight(runner, { limit: limit as number, maxHoldMs }),
  'inflightLimit of node:http': (options) => inflightLimit(options),
  'inflightLimit of Express': (options) => expressCap(options),
  'inflightLimit of Koa': (options) => koaCap(options),
  createSluice: (options) => createSluice().inflightLimit(options),
  limitUpgrade: ({ holdUntil: _until, ...options }) => limitUpgrade({ inflightLimit: options }),
  guardContinue: (options) => guardContinue(createServer(), { inflightLimit: options }),
  '@InflightLimit of node:http': onMethod(InflightLimit as never),
  '@InflightLimit of Express': onMethod(ExpressInflightLimit as never),
  'the plugin of Fastify': (options) => registered({ inflightLimit: options }),
  'a route of Fastify': (options) => routed(options),
  'the module of Nest': (options) => started({ imports: [SluiceModule.forRoot({ inflightLimit: options })] }),
  '@InflightLimit of Nest': (options) => {
    class Home {
      home(): void {}
    }
    Controller()(Home)
    const { value, ...rest } = Object.getOwnPropertyDescriptor(Home.prototype, 'home') as PropertyDescriptor
    for (const decorate of [Get(), NestInflightLimit(options)] as MethodDecorator[]) {
      decorate(Home.prototype, 'home', { ...rest, value })
    }
    return started({ imports: [SluiceModule.forRoot({})], controllers: [Home] })
  },
}
const WEIGHTED = Object.entries(PLACES).filter(([where]) => !/nflightLimiter|on \w+Inflight|redisInflight/.test(where))

async function codeOf(make: () => unknown): Promise<unknown> {
  try {
    await make()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return 'accepted'
}

describe.each(Object.entries(PLACES))('%s', (_where, make) => {
  test.each([0, -1, 0.5, -0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, Number.MAX_SAFE_INTEGER, '0s', '25d'])(
    'rejects a hold of %p, which would have no effect',
    async (maxHoldMs) => {
      expect(await codeOf(() => make({ limit: 2, maxHoldMs: maxHoldMs as never }))).toBe('SLUICE_BAD_DURATION')
    },
  )

  test('accepts the shortest and the longest hold', async () => {
    for (const maxHoldMs of [1, 2 ** 31 - 1, '1ms', '24d'] as const) {
      expect(await codeOf(() => make({ limit: 2, maxHoldMs }))).toBe('accepted')
    }
  })
})

describe.each(WEIGHTED)('%s', (_where, make) => {
  test('rejects a weight above its limit, which could never be admitted', async () => {
    expect(await codeOf(() => make({ limit: 2, weight: 3 }))).toBe('SLUICE_BAD_LIMIT')
    expect(await codeOf(() => make({ limit: 2, weight: 2 }))).toBe('accepted')
  })
})

test('limitConnections rejects a weight above its limit, and leaves no listener', async () => {
  const server = createServer()
  const before = server.listenerCount('connection')
  expect(await codeOf(() => limitConnections(server, { limit: 2, weight: 3 }))).toBe('SLUICE_BAD_LIMIT')
  expect(server.listenerCount('connection')).toBe(before)
})

const view: RequestView = { raw: {}, ip: '10.0.0.1', method: 'GET', route: undefined, header: () => undefined }
const BACKENDS: Readonly<Record<string, () => InflightBackend | undefined>> = {
  memory: () => undefined,
  redisInflight: () => redisInflight(runner),
  sketchInflight: () => sketchInflight(),
  'sketchInflight in two stages': () => sketchInflight({ trigger: 1 }),
}

describe.each(Object.entries(BACKENDS))('a request too heavy for a cap in %s', (_name, backendOf) => {
  test('is denied at once, without a retry time', async () => {
    const guard = new InflightGate({ limit: 2, weight: () => 3, backend: backendOf() })
    expect((await guard.check(view))?.denial).toMatchObject({ status: 503, retryAfterSeconds: undefined })
  })

  test('is denied by the backend without a retry time', () => {
    const cap = { name: 'heavy', limit: 2 }
    const answer = backendOf()?.acquire('key', { weight: 3, cap })
    if (answer) expect(answer).toEqual({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
  })

  test('gets no permit from the limiter, at once, and observers are notified', () => {
    const denied: string[] = []
    const observers = [{ capDenied: (key: string) => denied.push(key) }]
    const cap = createInflightLimiter({ limit: 2, backend: backendOf(), observers })
    expect(cap.acquire('key', { weight: 3 })).toBeUndefined()
    expect(denied).toEqual(['key'])
  })
})

test('a request whose key is denied gets no retry time', () => {
  const guard = new InflightGate({ limit: 2, key: () => DENY, clock: new FakeClock() })
  expect(guard.check(view)).toMatchObject({ denial: { status: 503, retryAfterSeconds: undefined } })
})

test('a cap in shadow mode admits a request that is too heavy', () => {
  const guard = new InflightGate({ limit: 2, weight: () => 3, mode: 'shadow' })
  expect(guard.check(view)).toBeUndefined()
})
