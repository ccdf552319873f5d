import { describe, expect, test } from '@jest/globals'
import Router from '@koa/router'
import { byAll, byHeader, byIp, byRoute, rateLimit, type SluiceState } from '@sluice/koa'
import type Koa from 'koa'
import type { Middleware } from 'koa'
import request from 'supertest'
import { RawClient } from '../../leaks/raw-client.ts'
import { running } from '../running-app.ts'
import { koaAnswers } from './koa-answers.ts'
import { koaProxies } from './koa-proxies.ts'

const ok: Middleware = (ctx) => {
  ctx.body = 'ok'
}
const once = { limit: 1, window: '1m' } as const

/** Tests that apply only to Koa, run for both versions. */
export function koaCases(make: typeof Koa): void {
  describe('a limiter', () => places(make))
  describe('a key by route', () => routes(make))
  describe('wrap', () => wrapped(make))
  koaAnswers(make)
  koaProxies(make)
}

async function statuses(app: Koa, ...paths: readonly string[]): Promise<number[]> {
  const all: number[] = []
  for (const path of paths) all.push((await request(app.callback()).get(path)).status)
  return all
}

function routed(app: Koa, router: Router): Koa {
  app.use(router.routes())
  return app
}

function places(Make: typeof Koa): void {
  test('limits only the routes of its router', async () => {
    const app = new Make()
    const router = new Router({ prefix: '/v1' })
    router.use(rateLimit(once))
    router.get('/a', ok)
    router.get('/b', ok)
    routed(app, router).use(ok)
    expect(await statuses(app, '/v1/a', '/v1/b', '/free', '/free')).toEqual([200, 429, 200, 200])
  })

  test('limits only its own route, and works next to an application-wide limiter', async () => {
    const app = new Make()
    app.use(rateLimit({ name: 'all', limit: 3, window: '1m', algorithm: 'fixed-window' }))
    const router = new Router()
    router.get('/login', rateLimit({ name: 'login', ...once }), ok)
    router.get('/other', ok)
    routed(app, router)
    expect(await statuses(app, '/login', '/login', '/other', '/other')).toEqual([200, 429, 200, 429])
    const denied = await request(app.callback()).get('/other')
    expect(denied.body['violated-policies']).toEqual(['all'])
  })

  test('exposes its decision in ctx.state, also to middleware before it', async () => {
    const seen: unknown[] = []
    const app = new Make()
    app.use(async (ctx, next) => {
      await next()
      seen.push([ctx.status, ctx.state.sluice?.decision?.allowed])
    })
    app.use(rateLimit(once))
    app.use((ctx) => {
      ctx.body = `${ctx.state.sluice?.decision?.binding.remaining}`
    })
    const { text } = await request(app.callback()).get('/')
    await request(app.callback()).get('/')
    expect([text, seen]).toEqual([
      '0',
      [
        [200, true],
        [429, false],
      ],
    ])
  })

  test('exports the type of its state, for applications that declare a state type', async () => {
    const app = new Make<{ readonly user: string } & SluiceState>()
    app.use((ctx, next) => {
      Object.assign(ctx.state, { user: 'anna' })
      return next()
    })
    app.use(rateLimit({ ...once, key: (ctx) => ctx.state.user as string }))
    app.use((ctx) => {
      // @ts-expect-error the state has no property of this name
      const nobody: unknown = ctx.state.sluce
      ctx.body = `${ctx.state.user} ${ctx.state.sluice?.decision?.binding.remaining} ${nobody}`
    })
    expect((await request(app.callback()).get('/')).text).toBe('anna 0 undefined')
  })

  test('passes the context to key, cost and settle functions', async () => {
    const settled: unknown[] = []
    const app = new Make()
    const settle = (ctx: Koa.Context, response: Koa.Response): number => {
      settled.push([ctx.path, response.status])
      return response.status === 401 ? 1 : 0
    }
    app.use(rateLimit({ ...once, key: (ctx) => ctx.query.user as string, cost: { reserve: 1, settle } }))
    app.use((ctx) => {
      ctx.status = Number(ctx.query.status)
    })
    const asked = ['/?user=a&status=204', '/?user=a&status=401', '/?user=a&status=204', '/?user=b&status=204']
    expect(await statuses(app, ...asked)).toEqual([204, 401, 429, 204])
    expect(settled).toEqual([204, 401, 204].map((status) => ['/', status]))
  })
}

function routes(Make: typeof Koa): void {
  const spellings = [
    '/api/login/7',
    '/API/login/7',
    '/api/LOGIN/8',
    '/api/login/7/',
    '/api/login/%37',
    '/api/login/a;v=1',
  ]
  const login = (options: { readonly inRouter?: boolean } = {}): Koa => {
    const router = new Router({ prefix: '/api' })
    const limit = rateLimit({ ...once, key: byRoute() })
    if (options.inRouter) router.use(limit)
    router.get('/login/:id', ...(options.inRouter ? [] : [limit]), ok)
    router.get('/other', ...(options.inRouter ? [] : [limit]), ok)
    return routed(new Make(), router)
  }

  test.each(spellings)('counts %s together with every other spelling', async (spelling) => {
    expect(await statuses(login(), '/api/login/7', spelling, '/api/other')).toEqual([200, 429, 200])
  })

  test('counts a request in absolute form together with every other spelling', async () => {
    const { port, close } = await running(login().callback())
    const client = await RawClient.to(port)
    client.send('GET /api/login/7 HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.hears('HTTP/1.1 200')
    client.send('GET http://shop.example/API/login/7 HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.hears('HTTP/1.1 429')
    await close()
  })

  test('in router.use counts all routes of the router under one key', async () => {
    expect(await statuses(login({ inRouter: true }), '/api/login/7', '/api/other')).toEqual([200, 429])
  })

  test('counts routes and methods separately, but HEAD and GET together', async () => {
    const router = new Router()
    const limit = rateLimit({ ...once, key: byAll(byRoute(), byIp()) })
    router.get('/a', limit, ok).post('/a', limit, ok)
    router.get(/^\/b/, limit, ok)
    const app = routed(new Make(), router)
    expect(await statuses(app, '/a', '/b', '/a', '/bb')).toEqual([200, 200, 429, 429])
    expect((await request(app.callback()).post('/a')).status).toBe(200)
    expect((await request(app.callback()).head('/b')).status).toBe(429)
  })

  test('counts all requests without a route under one key', async () => {
    const app = new Make().use(rateLimit({ ...once, key: byRoute() }))
    expect(await statuses(app, '/no', '/where')).toEqual([404, 429])
  })
}

function wrapped(Make: typeof Koa): void {
  test('limits its handler, which may call next', async () => {
    const app = new Make()
    const handler: Middleware = (ctx, next) => (ctx.query.on ? next() : ok(ctx, next))
    app.use(rateLimit({ limit: 2, window: '1m', key: byHeader('x-user') }).wrap(handler))
    app.use((ctx) => {
      ctx.body = 'second'
    })
    expect((await request(app.callback()).get('/')).text).toBe('ok')
    expect((await request(app.callback()).get('/?on=1')).text).toBe('second')
    expect((await request(app.callback()).get('/')).status).toBe(429)
  })

  test('passes route handlers the context that their router extended', async () => {
    const router = new Router()
    const limit = rateLimit(once)
    router.get(
      '/users/:id',
      limit.wrap((ctx) => {
        ctx.body = ctx.params.id
      }),
    )
    expect((await request(routed(new Make(), router).callback()).get('/users/anna')).text).toBe('anna')
  })
}
