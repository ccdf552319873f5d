import { getRequestListener } from '@hono/node-server'
import { describe, expect, test } from '@jest/globals'
import { byHeader, byRoute, createSluice, inflightLimit, rateLimit } from '@sluice/hono'
import { FakeClock, until } from '@sluice/testkit'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import { stream } from 'hono/streaming'
import { running } from '../adapters/running-app.ts'

const key = byHeader('x-client')
const anna = { headers: { 'x-client': 'anna' } }

describe('a denial', () => {
  test('contains headers that earlier middleware prepared, and none that describe the regular response', async () => {
    const app = new Hono()
    app.use(async (c, next) => {
      c.header('X-Trace', '7')
      c.header('ETag', '"v1"')
      await next()
    })
    app.use(rateLimit({ limit: 1, window: '1m', key }))
    app.get('/', (c) => c.text('hello'))
    const allowed = await app.request('/', anna)
    expect([allowed.headers.get('x-trace'), allowed.headers.get('etag')]).toEqual(['7', '"v1"'])
    const { status, headers } = await app.request('/', anna)
    expect([status, headers.get('x-trace'), headers.get('etag')]).toEqual([429, '7', null])
  })

  test('is an HTTPException for app.onError with `next`, with the default response and a coded cause', async () => {
    const app = new Hono()
    app.use(rateLimit({ limit: 1, window: '1m', key, next: true }))
    app.get('/', (c) => c.text('hello'))
    const errors: unknown[] = []
    app.onError((error) => {
      errors.push(error)
      return (error as HTTPException).getResponse()
    })
    await app.request('/', anna)
    const { status, headers } = await app.request('/', anna)
    expect([status, headers.get('retry-after'), headers.get('ratelimit')]).toEqual([429, '60', '"default";r=0;t=60'])
    expect(errors).toEqual([expect.any(HTTPException)])
    expect((errors[0] as HTTPException).cause).toMatchObject({ code: 'SLUICE_DENIED', status: 429 })
  })

  test('can be read by pages of other origins behind the CORS middleware', async () => {
    const app = new Hono()
    app.use(cors({ origin: 'https://shop.example', exposeHeaders: ['X-Total'] }))
    app.use(rateLimit({ limit: 1, window: '1m', key }))
    app.get('/', (c) => c.text('hello'))
    const page = { headers: { ...anna.headers, origin: 'https://shop.example' } }
    for (const [status, exposed] of [
      [200, 'X-Total, RateLimit, RateLimit-Policy'],
      [429, 'X-Total, RateLimit, RateLimit-Policy, Retry-After'],
    ]) {
      const response = await app.request('/', page)
      const { headers } = response
      expect([response.status, headers.get('access-control-expose-headers')]).toEqual([status, exposed])
      expect(headers.get('access-control-allow-origin')).toBe('https://shop.example')
    }
  })
})

describe('an allowed request', () => {
  test('shows its decision to the handler', async () => {
    const app = new Hono()
    app.use(rateLimit({ limit: 5, window: '1m', key }))
    app.get('/', (c) => c.json({ left: c.var.sluice?.decision?.binding.remaining }))
    expect(await (await app.request('/', anna)).json()).toEqual({ left: 4 })
  })

  test('has limit headers if the handler returns a response that it did not create', async () => {
    const app = new Hono()
    app.use(rateLimit({ limit: 5, window: '1m', key }))
    app.get('/', () => Response.redirect('https://api.example/', 302))
    app.get('/cookies', (c) => {
      c.header('Set-Cookie', 'a=1', { append: true })
      c.header('Set-Cookie', 'b=2', { append: true })
      return c.text('hello')
    })
    const { status, headers } = await app.request('/', anna)
    expect([status, headers.get('ratelimit')]).toEqual([302, '"default";r=4;t=60'])
    expect((await app.request('/cookies', anna)).headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  test('counts an unknown route and a failed handler, whose answers have limit headers', async () => {
    const app = new Hono()
    app.use(rateLimit({ limit: 5, window: '1m', key }))
    app.get('/broken', () => {
      throw new Error('broken')
    })
    app.onError((_error, c) => c.text('sorry', 500))
    const missing = await app.request('/missing', anna)
    expect([missing.status, missing.headers.get('ratelimit')]).toEqual([404, '"default";r=4;t=60'])
    const broken = await app.request('/broken', anna)
    expect([broken.status, broken.headers.get('ratelimit')]).toEqual([500, '"default";r=3;t=60'])
  })
})

describe('byRoute', () => {
  test('counts the pattern of the handler, also in middleware of the application and of mounted applications', async () => {
    const limit = rateLimit({ limit: 9, window: '1m', key: byRoute() })
    const teams = new Hono()
    teams.get('/:team', (c) => c.text('a team'))
    teams.all('/:team/any', (c) => c.text('any method'))
    const app = new Hono()
    app.use(limit)
    app.route('/teams', teams)
    await app.request('/teams/1', anna)
    await app.request('/teams/2', { ...anna, method: 'HEAD' })
    await app.request('/teams/2/any', { ...anna, method: 'DELETE' })
    const left = async (route: string) => (await limit.limiter.peek(route)).binding.remaining
    const keys = ['GET /teams/:team', 'GET /teams/:team/any']
    expect(await Promise.all(keys.map(left))).toEqual([7, 8])
  })
})

describe('a cap', () => {
  test('holds its place while a stream is read, and releases it once', async () => {
    const cap = inflightLimit({ limit: 1 })
    const app = new Hono()
    app.use(cap)
    app.get('/', (c) =>
      stream(c, async (out) => {
        await out.write('one ')
        await out.write('two')
      }),
    )
    const response = await app.request('/')
    expect((await app.request('/')).status).toBe(503)
    expect(await response.text()).toBe('one two')
    expect(cap.limiter.count()).toBe(0)
  })

  test('releases its place if the handler throws', async () => {
    const cap = inflightLimit({ limit: 1 })
    const app = new Hono()
    app.use(cap)
    app.get('/', () => {
      throw new Error('broken')
    })
    app.onError((_error, c) => c.text('sorry', 500))
    for (let i = 0; i < 3; i++) expect(await (await app.request('/')).text()).toBe('sorry')
    expect(cap.limiter.count()).toBe(0)
  })
})

describe('a limit on @hono/node-server', () => {
  const responses = async (limit: MiddlewareHandler, respond: (c: Context) => Response) => {
    const seen: Response[] = []
    const app = new Hono()
    app.use(async (c, next) => {
      await next()
      seen.push(c.res)
    })
    app.use(limit)
    app.get('/', (c) => {
      seen.push(respond(c))
      return seen[0]
    })
    const { port, close } = await running(getRequestListener(app.fetch))
    const text = await (await fetch(`http://127.0.0.1:${port}/`)).text()
    await close()
    return { seen, text }
  }

  test('leaves the response of the handler as it is, and releases a place when the server has sent it', async () => {
    const cap = inflightLimit({ limit: 1 })
    const { seen, text } = await responses(cap, (c) => c.text('hello'))
    expect(text).toBe('hello')
    expect(seen[1]).toBe(seen[0])
    await until(() => cap.limiter.count() === 0, { what: 'the release of the place' })
  })

  test('wraps the body of a response that a stream budget may end early', async () => {
    const cost = { reserve: 1, extend: 'stream' } as const
    const limit = rateLimit({ limit: 5, window: '1m', maxHoldMs: '1m', key: () => 'all', cost })
    const { seen, text } = await responses(limit, (c) => c.text('hello'))
    expect(text).toBe('hello')
    expect(seen[1]).not.toBe(seen[0])
  })
})

test('a cost that is settled after the response keeps the Worker alive until it is stored', async () => {
  const { rateLimit } = createSluice({ clock: new FakeClock() })
  const kept: Promise<unknown>[] = []
  const context = {
    waitUntil: (work: Promise<unknown>) => void kept.push(work),
    passThroughOnException: () => {},
    props: {},
  }
  const limit = rateLimit({
    limit: 10,
    window: '1m',
    key,
    cost: { reserve: 1, settle: (_c, { response }) => (response?.ok ? 4 : 1) },
  })
  const app = new Hono()
  app.use(limit)
  app.get('/', (c) => c.text('hello'))
  await (await app.request('/', anna, {}, context)).text()
  expect(kept).toHaveLength(1)
  await kept[0]
  expect((await limit.limiter.peek('anna')).binding.remaining).toBe(6)
})
