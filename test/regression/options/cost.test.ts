import { createServer } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { Controller, Get } from '@nestjs/common'
import { RateLimit as ExpressRateLimit, rateLimit as expressRate, slowDown as expressSlow } from '@sluice/express'
import { sluice as fastifySluice } from '@sluice/fastify'
import { RateGate } from '@sluice/http'
import { rateLimit as koaRate } from '@sluice/koa'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { RateLimit as NestRateLimit, SluiceModule } from '@sluice/nest'
import { createSluice, guardContinue, limitUpgrade, rateLimit, slowDown } from '@sluice/node-http'
import { type FastifyPluginAsync, fastify } from 'fastify'
import { type AppOptions, nestApp } from '../../nest/nest-app.ts'

/** Options as in JavaScript, without type checks. */
// biome-ignore lint/suspicious/noExplicitAny: some of these costs are wrong on purpose
type Cost = any
type Make = (cost: Cost) => unknown

const POLICY = { limit: 5, window: '1m' } as const
const SLOW = { after: 2, window: '1m', delayMs: 10, maxDelayMs: 30 } as const
const settle = (): number => 1

function decorated(limit: unknown): unknown {
  const method = { kind: 'method', name: 'home', metadata: {}, addInitializer: () => {} }
  return (limit as (...args: unknown[]) => unknown)(() => {}, method)
}

async function onFastify(app: object, route: object = {}): Promise<void> {
  const site = fastify()
  await site.register(fastifySluice as FastifyPluginAsync<object>, app)
  site.get('/', { config: { sluice: route } as object }, async () => 'ok')
  await site.ready()
}

async function onNest(options: AppOptions): Promise<void> {
  await (await nestApp('Express', options)).close()
}

function nestRoute(limit: unknown): AppOptions['controllers'] {
  class Home {
    home(): void {}
  }
  Controller()(Home)
  const { value, ...rest } = Object.getOwnPropertyDescriptor(Home.prototype, 'home') as PropertyDescriptor
  for (const decorate of [Get(), limit] as MethodDecorator[]) decorate(Home.prototype, 'home', { ...rest, value })
  return [Home]
}

/** All places that accept a cost. A fresh key has 5 units in each of them. */
const PLACES: Readonly<Record<string, Make>> = {
  'rateLimit of node:http': (cost) => rateLimit({ ...POLICY, cost }),
  'rateLimit of Express': (cost) => expressRate({ ...POLICY, cost }),
  'rateLimit of Koa': (cost) => koaRate({ ...POLICY, cost }),
  'a policy of several': (cost) =>
    rateLimit({
      policies: [
        { ...POLICY, limit: 99, name: 'a' },
        { ...POLICY, cost },
      ],
    }),
  'all of several policies': (cost) => rateLimit({ cost, policies: [{ ...POLICY, limit: 99, name: 'a' }, POLICY] }),
  'a policy in shadow mode': (cost) => rateLimit({ ...POLICY, cost, mode: 'shadow' }),
  'a policy of a plan': (cost) => rateLimit({ plans: { free: [{ ...POLICY, cost }] }, plan: () => 'free' }),
  'the smallest of several plans': (cost) =>
    rateLimit({ cost, plans: { free: [POLICY], pro: [{ ...POLICY, limit: 99 }] }, plan: () => 'pro' }),
  'a bucket with a burst above its limit': (cost) =>
    rateLimit({ ...POLICY, algorithm: 'token-bucket', limit: 1, burst: 5, cost }),
  'a bucket with a burst below its limit': (cost) =>
    rateLimit({ ...POLICY, algorithm: 'gcra', limit: 99, burst: 5, cost }),
  'slowDown of node:http': (cost) => slowDown({ ...SLOW, cost }),
  'slowDown of Express': (cost) => expressSlow({ ...SLOW, cost }),
  createSluice: (cost) => createSluice().rateLimit({ ...POLICY, cost }),
  limitUpgrade: (cost) => limitUpgrade({ rateLimit: { ...POLICY, cost } }),
  guardContinue: (cost) => guardContinue(createServer(), { rateLimit: { ...POLICY, cost } }),
  '@RateLimit of Express': (cost) => decorated(ExpressRateLimit({ ...POLICY, cost })),
  'the plugin of Fastify': (cost) => onFastify({ rateLimit: { ...POLICY, cost } }),
  'a route of Fastify': (cost) => onFastify({}, { rateLimit: { ...POLICY, cost } }),
  'a route of Fastify with the cost of its application': (cost) =>
    onFastify({ rateLimit: { ...POLICY, limit: 99, cost } }, { rateLimit: { ...POLICY, name: 'own' } }),
  'the module of Nest': (cost) => onNest({ imports: [SluiceModule.forRoot({ rateLimit: { ...POLICY, cost } })] }),
  'a named policy of Nest': (cost) =>
    onNest({
      imports: [SluiceModule.forRoot({ policies: [{ ...POLICY, name: 'login', cost }] })],
      controllers: nestRoute(NestRateLimit('login')) as NonNullable<AppOptions['controllers']>,
    }),
  '@RateLimit of Nest': (cost) =>
    onNest({
      imports: [SluiceModule.forRoot({})],
      controllers: nestRoute(NestRateLimit({ ...POLICY, cost })) as NonNullable<AppOptions['controllers']>,
    }),
}

async function codeOf(make: () => unknown): Promise<unknown> {
  try {
    await make()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return 'accepted'
}

describe.each(Object.entries(PLACES))('%s', (_where, make) => {
  test.each<[string, Cost]>([
    ['of 0, with which no request is ever denied', 0],
    ['of -0', -0],
    ['of more than the limit, with which every request is denied', 6],
    ['too large to count', 2 ** 60],
    ['that reserves 0', { reserve: 0, settle }],
    ['that reserves more than the limit', { reserve: 6, settle }],
  ])('rejects a cost %s', async (_what, cost) => {
    expect(await codeOf(() => make(cost))).toBe('SLUICE_BAD_COST')
  })

  test('accepts the whole limit as a cost, a fraction of a unit, and a function', async () => {
    for (const cost of [5, 4.5, 0.1, () => 0, () => 99, { reserve: 5, settle }, { reserve: () => 0, settle }]) {
      expect(await codeOf(() => make(cost))).toBe('accepted')
    }
  })
})

test('a limiter that is rejected for its cost does not reserve its name', () => {
  const backend = memoryBackend()
  const options = { ...POLICY, backend, scope: 'api' }
  expect(() => new RateGate({ ...options, cost: 6 })).toThrow('SLUICE_BAD_COST')
  expect(() => new RateGate({ ...options, limit: 6, cost: 6 })).not.toThrow()
})

test('the message has the name of the policy and the units of a fresh key', () => {
  expect(() => rateLimit({ ...POLICY, name: 'exports', cost: 6 })).toThrow(
    "policy 'exports': cost: expected at most 5 (more would deny every request), received 6",
  )
})

test('a take of 0 is a query, and a take above the limit is denied forever', () => {
  const limiter = createLimiter({ policies: [POLICY] })
  expect(limiter.take('key', 0)).toMatchObject({ allowed: true, binding: { remaining: 5 } })
  expect(limiter.take('key', 6)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
  expect(limiter.take('key', 5)).toMatchObject({ allowed: true, binding: { remaining: 0 } })
})
