import { createServer, type RequestListener } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { FakeClock, until, Warnings } from '@sluice/testkit'
import fastify, { type RouteHandlerMethod } from 'fastify'
import Koa, { type Middleware } from 'koa'
import request from 'supertest'
import { CompiledControllers, settings } from './compiled-controllers.ts'
import type * as FastifyControllers from './controllers/fastify.ts'
import type { Gate } from './controllers/gate.ts'
import type * as KoaControllers from './controllers/koa.ts'
import type * as NodeHttpControllers from './controllers/node-http.ts'

/** The methods common to the controllers of all frameworks. */
type Routes<Handler> = Readonly<Record<'list' | 'work' | 'slow' | 'fail', Handler>>
type Listen = (compiled: CompiledControllers, clock: FakeClock, gate: Gate) => Promise<RequestListener>

const frameworks: Readonly<Record<string, Listen>> = {
  'node:http': async (compiled, clock, gate) => {
    const { nodeHttpControllers } = await compiled.load<typeof NodeHttpControllers>('node-http')
    const users: Routes<(...args: Parameters<RequestListener>) => unknown> = new (nodeHttpControllers(clock, gate))()
    return async (req, res) => {
      try {
        await users[req.url?.slice(1) as keyof typeof users](req, res)
      } catch {
        res.writeHead(500).end()
      }
    }
  },
  Koa: async (compiled, clock, gate) => {
    const { koaControllers } = await compiled.load<typeof KoaControllers>('koa')
    const users: Routes<Middleware> = new (koaControllers(clock, gate))()
    const app = new Koa()
    app.silent = true
    app.use((ctx, next) => {
      const method = ctx.path.slice(1) as keyof typeof users
      // handlers that do not use next need only a context
      return method === 'slow' ? users.slow(ctx, next) : (users[method] as (ctx: unknown) => unknown).call(users, ctx)
    })
    return app.callback()
  },
  Fastify: async (compiled, clock, gate) => {
    const { fastifyControllers } = await compiled.load<typeof FastifyControllers>('fastify')
    // one handler declares a narrower request type than any route provides
    const users = new (fastifyControllers(clock, gate))() as object as Routes<RouteHandlerMethod>
    const app = fastify()
    for (const path of ['list', 'work', 'slow', 'fail'] as const) app.get(`/${path}`, users[path].bind(users as never))
    await app.ready()
    return (req, res) => app.routing(req, res)
  },
}

describe.each(settings)('under %s decorators', (setting) => {
  let compiled: CompiledControllers

  beforeAll(async () => {
    compiled = await CompiledControllers.of(setting)
  })
  afterAll(() => compiled[Symbol.dispose]())

  describe.each(Object.entries(frameworks))('a class of %s handlers', (framework, listen) => {
    const warnings = new Warnings()
    let clock: FakeClock
    let finish: () => void
    let server: ReturnType<typeof createServer>

    beforeEach(async () => {
      warnings.listen()
      clock = new FakeClock()
      const held = new Promise<void>((resolve) => {
        finish = resolve
      })
      server = createServer(await listen(compiled, clock, { open: () => held }))
    })
    afterEach(() => {
      finish()
      warnings.stop()
    })

    const get = (path: string): request.Test => request(server).get(path)

    test('has methods that are limited, keep their this, and admit a client that waits as long as Retry-After says', async () => {
      const passed = await get('/list')
      expect([passed.status, passed.text]).toEqual([200, `users of ${framework}`])
      expect(passed.headers['ratelimit-policy']).toBe('"outer";q=2;w=60, "inner";q=5;w=60')
      expect([(await get('/list')).status, (await get('/list')).status]).toEqual([200, 429])
      const denied = await get('/list')
      expect(denied.headers['content-type']).toMatch('application/problem+json')
      clock.advance(Number(denied.headers['retry-after']) * 1_000)
      expect((await get('/list')).status).toBe(200)
      expect(warnings.texts).toEqual([])
    })

    test('has a cap that waits for the promise of its method', async () => {
      expect((await get('/work')).text).toBe('begun')
      expect((await get('/work')).status).toBe(503)
      finish()
      expect((await get('/work')).text).toBe('begun')
    })

    test('has a slowed method that runs when its delay is over', async () => {
      // middleware after the method in Koa has no effect
      expect((await get('/slow')).text).toBe(`slow ${framework}`)
      const pending = clock.pending
      const second = get('/slow').then(({ text }) => text)
      await until(() => clock.pending === pending + 1)
      clock.advance(999)
      expect(clock.pending).toBe(pending + 1)
      clock.advance(1)
      expect(await second).toBe(`slow ${framework}`)
    })

    test('has a method whose rejection is handled as without a limit', async () => {
      expect([(await get('/fail')).status, (await get('/fail')).status, (await get('/fail')).status]).toEqual([
        500, 500, 429,
      ])
    })
  })
})
