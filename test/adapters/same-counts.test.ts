import 'reflect-metadata'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, test } from '@jest/globals'
import { Controller, Get } from '@nestjs/common'
import * as ofExpress from '@sluice/express'
import * as ofFastify from '@sluice/fastify'
import * as ofFetch from '@sluice/fetch'
import * as ofHono from '@sluice/hono'
import * as ofKoa from '@sluice/koa'
import { SluiceModule } from '@sluice/nest'
import * as ofNode from '@sluice/node-http'
import { redisBackend, redisInflight } from '@sluice/redis'
import { eachSeed, type RunningApp, type SeededRandom } from '@sluice/testkit'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import type { Redis } from 'ioredis'
import Koa from 'koa'
import { nestApp, type Platform } from '../nest/nest-app.ts'
import { ownPrefix } from '../redis/exact/own-prefix.ts'
import { redisClientForTests } from '../services/redis/redis-for-tests.ts'
import { running } from './running-app.ts'

// a busy machine may reply late, and a limit would then count elsewhere
const DEADLINE_MS = 10_000

/** Options of the limits of an application, which all adapters accept. */
interface Limits {
  readonly rateLimit: { readonly limit: number; readonly window: '1m' }
  readonly slowDown: { readonly after: number; readonly window: '1m'; readonly delayMs: 1; readonly maxDelayMs: 1 }
  readonly inflightLimit: { readonly limit: number }
}
/** Called while the request has its places. */
type Work = () => Promise<void>
type Start = (limits: Limits, work: Work) => Promise<RunningApp>

const starts: Readonly<Record<string, Start>> = {
  'node:http': (limits, work) => {
    const steps = [
      ofNode.rateLimit(limits.rateLimit),
      ofNode.slowDown(limits.slowDown),
      ofNode.inflightLimit(limits.inflightLimit),
    ]
    return running((req, res) => {
      const run = (index: number): unknown =>
        index < steps.length ? steps[index](req, res, () => run(index + 1)) : work().then(() => res.end())
      run(0)
    })
  },
  Express: (limits, work) => {
    const app = express()
    app.use(ofExpress.rateLimit(limits.rateLimit), ofExpress.slowDown(limits.slowDown))
    app.use(ofExpress.inflightLimit(limits.inflightLimit))
    app.get('/', (_req, res) => work().then(() => void res.end()))
    return running(app)
  },
  Koa: (limits, work) => {
    const app = new Koa()
    app.use(ofKoa.rateLimit(limits.rateLimit)).use(ofKoa.slowDown(limits.slowDown))
    app.use(ofKoa.inflightLimit(limits.inflightLimit))
    app.use(async (ctx) => {
      await work()
      ctx.body = ''
    })
    return running(app.callback())
  },
  'hooks of Fastify': (limits, work) =>
    fastifyApp(work, (app) => {
      app.addHook('onRequest', ofFastify.rateLimit(limits.rateLimit))
      app.addHook('onRequest', ofFastify.slowDown(limits.slowDown))
      app.addHook('onRequest', ofFastify.inflightLimit(limits.inflightLimit))
    }),
  'the plugin of Fastify': (limits, work) => fastifyApp(work, (app) => void app.register(ofFastify.sluice, limits)),
  Hono: (limits, work) => {
    const app = new Hono()
    app.use(ofHono.rateLimit(limits.rateLimit), ofHono.slowDown(limits.slowDown))
    app.use(ofHono.inflightLimit(limits.inflightLimit))
    app.get('/', async (c) => {
      await work()
      return c.text('')
    })
    return running(getRequestListener(app.fetch))
  },
  fetch: (limits, work) => {
    const held = ofFetch.inflightLimit(limits.inflightLimit).wrap(() => work().then(() => new Response()))
    const slow = ofFetch.slowDown(limits.slowDown).wrap(held)
    return running(getRequestListener(ofFetch.rateLimit(limits.rateLimit).wrap(slow)))
  },
  'Nest on Express': (limits, work) => nestStart('Express', limits, work),
  'Nest on Fastify': (limits, work) => nestStart('Fastify', limits, work),
}

async function fastifyApp(work: Work, add: (app: ReturnType<typeof fastify>) => void): Promise<RunningApp> {
  const app = fastify()
  add(app)
  app.get('/', () => work().then(() => ''))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
}

function nestStart(platform: Platform, limits: Limits, work: Work): Promise<RunningApp> {
  class Page {
    answer(): Promise<string> {
      return work().then(() => '')
    }
  }
  Get()(Page.prototype, 'answer', Object.getOwnPropertyDescriptor(Page.prototype, 'answer') as PropertyDescriptor)
  Controller()(Page)
  return nestApp(platform, { imports: [SluiceModule.forRoot(limits)], controllers: [Page] })
}

/** Returns random limits of an application, apart from their backends. */
function drawn(random: SeededRandom): Limits {
  const algorithm = random.pick([{}, { algorithm: 'gcra' }, { algorithm: 'sliding-window', slices: 3 }])
  const one = { limit: 1 + random.whole(99), window: '1m', ...algorithm } as const
  const two = [
    { ...one, name: 'one' },
    { ...one, name: 'two', window: '1h' },
  ]
  const key = (): object => random.pick([{}, { key: ofNode.byHeader('x-api-key') }])
  const named = (name: string): object => random.pick([{}, { name }])
  const scope = (): object => random.pick([{}, { scope: 'team' }])
  const policies = random.pick([
    { ...one, ...named('api') },
    { policies: two },
    { plans: { free: two, pro: two }, plan: () => 'pro' },
  ])
  const weight = random.pick([{}, { weight: 2 }])
  return {
    rateLimit: { ...policies, ...key(), ...scope() } as Limits['rateLimit'],
    slowDown: { after: 5, window: '1m', delayMs: 1, maxDelayMs: 1, ...named('slow'), ...key(), ...scope() },
    inflightLimit: { limit: 2 + random.whole(9), ...named('cap'), ...key(), ...weight },
  }
}

/** Serves one request, and returns the keys that Redis then has, and how many places they hold. */
async function keysBehind(start: Start, limits: Limits, client: Redis): Promise<string[]> {
  const prefix = ownPrefix()
  const backend = redisBackend(client, { prefix })
  const inflight = redisInflight(client, {
    prefix: `${prefix}-caps`,
    deadlineMs: DEADLINE_MS,
    leaseMs: 3 * DEADLINE_MS,
  })
  const own = {
    rateLimit: { ...limits.rateLimit, backend, deadlineMs: DEADLINE_MS },
    slowDown: { ...limits.slowDown, backend, deadlineMs: DEADLINE_MS },
    inflightLimit: { ...limits.inflightLimit, backend: inflight },
  }
  let keys: string[] = []
  const app = await start(own, async () => {
    const stored = await client.keys(`${prefix}*`)
    keys = stored.map((key) => key.slice(prefix.length)).sort()
  })
  const response = await fetch(`http://127.0.0.1:${app.port}/`, { headers: { 'x-api-key': 'k1' } })
  expect(response.status).toBe(200)
  await app.close()
  await Promise.all([backend.close?.(), inflight.close?.()])
  return keys
}

const redis = redisClientForTests()

describe('limits of an application with the same options', () => {
  test.each(Object.keys(starts).slice(1))('count one client under the same keys as on node:http: %s', async (name) => {
    await eachSeed(6, async (random) => {
      const limits = drawn(random)
      const expected = await keysBehind(starts['node:http'], limits, redis.client)
      expect(expected.length).toBeGreaterThanOrEqual(3)
      expect(await keysBehind(starts[name], limits, redis.client)).toEqual(expected)
    })
  })
})
