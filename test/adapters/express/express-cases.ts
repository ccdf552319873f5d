import { describe, expect, test } from '@jest/globals'
import { byAll, byHeader, byIp, byRoute, inflightLimit, rateLimit } from '@sluice/express'
import type express from 'express'
import type { ErrorRequestHandler, Express, RequestHandler } from 'express'
import request from 'supertest'
import { RawClient } from '../../leaks/raw-client.ts'
import { running } from '../running-app.ts'

const ok: RequestHandler = (_req, res) => {
  res.send('ok')
}
const once = { limit: 1, window: '1m' } as const

/** Tests that apply only to Express, run for both versions. */
export function expressCases(make: typeof express): void {
  describe('a limiter', () => places(make))
  describe('a key by route', () => routes(make))
  describe('next: true', () => errors(make))
  describe('wrap', () => wrapped(make))
}

async function statuses(app: Express, ...paths: readonly string[]): Promise<number[]> {
  const all: number[] = []
  for (const path of paths) all.push((await request(app).get(path)).status)
  return all
}

function places(make: typeof express): void {
  test('limits only the routes of its router', async () => {
    const app = make()
    const router = make.Router()
    router.use(rateLimit(once))
    router.get('/a', ok)
    router.get('/b', ok)
    app.use('/v1', router)
    app.get('/free', ok)
    expect(await statuses(app, '/v1/a', '/v1/b', '/free', '/free')).toEqual([200, 429, 200, 200])
  })

  test('limits only its own route, and works next to an application-wide limiter', async () => {
    const app = make()
    app.use(rateLimit({ name: 'all', limit: 3, window: '1m', algorithm: 'fixed-window' }))
    app.get('/login', rateLimit({ name: 'login', ...once }), ok)
    app.get('/other', ok)
    expect(await statuses(app, '/login', '/login', '/other', '/other')).toEqual([200, 429, 200, 429])
    const denied = await request(app).get('/other')
    expect(denied.body['violated-policies']).toEqual(['all'])
  })

  test('exposes its decision to handlers and to error handlers', async () => {
    const app = make()
    app.use(rateLimit(once))
    app.get('/', (req, res) => {
      res.send(`${req.sluice?.decision?.binding.remaining}`)
    })
    const { text } = await request(app).get('/')
    expect(text).toBe('0')
  })
}

function routes(make: typeof express): void {
  const spellings = [
    '/api/login/7',
    '/API/login/7',
    '/api/LOGIN/8',
    '/api/login/7/',
    '/api/login/%37',
    '/api/login/a;v=1',
  ]

  test.each(spellings)('counts %s together with every other spelling', async (spelling) => {
    const app = make()
    app.get('/api/login/:id', rateLimit({ ...once, key: byRoute() }), ok)
    expect(await statuses(app, '/api/login/7', spelling)).toEqual([200, 429])
  })

  test.each(spellings)('counts %s of a mounted router together with every other spelling', async (spelling) => {
    const app = make()
    const router = make.Router()
    router.get('/login/:id', rateLimit({ ...once, key: byRoute() }), ok)
    app.use('/api', router)
    expect(await statuses(app, '/api/login/7', spelling)).toEqual([200, 429])
  })

  test('counts a request in absolute form together with every other spelling', async () => {
    const app = make()
    const router = make.Router()
    router.get('/login/:id', rateLimit({ ...once, key: byRoute() }), ok)
    app.use('/api', router)
    const { port, close } = await running(app)
    const client = await RawClient.to(port)
    client.send('GET /api/login/7 HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.hears('HTTP/1.1 200')
    client.send('GET http://shop.example/API/login/7 HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.hears('HTTP/1.1 429')
    await close()
  })

  test('counts routes and methods separately, but HEAD and GET together', async () => {
    const app = make()
    const limit = rateLimit({ ...once, key: byAll(byRoute(), byIp()) })
    app.route('/a').get(limit, ok).post(limit, ok)
    app.get('/b', limit, ok)
    expect(await statuses(app, '/a', '/b', '/a')).toEqual([200, 200, 429])
    expect((await request(app).post('/a')).status).toBe(200)
    expect((await request(app).head('/b')).status).toBe(429)
  })

  test('counts all requests without a route under one key', async () => {
    const app = make()
    app.use(rateLimit({ ...once, key: byRoute() }))
    expect(await statuses(app, '/no', '/where')).toEqual([404, 429])
  })
}

function errors(make: typeof express): void {
  const app = (...handlers: readonly (RequestHandler | ErrorRequestHandler)[]): Express => {
    const made = make()
    made.use(rateLimit({ ...once, name: 'api', algorithm: 'fixed-window', next: true }))
    made.get('/', ok)
    for (const handler of handlers) made.use(handler as RequestHandler)
    return made
  }

  test("sends Express's default error response with the headers of the denial", async () => {
    const made = app()
    await request(made).get('/')
    const { status, headers, text } = await request(made).get('/')
    expect(status).toBe(429)
    expect(headers).toMatchObject({
      'retry-after': '60',
      ratelimit: expect.stringMatching(/^"api";r=0;t=(59|60)$/),
      'cache-control': 'no-store',
    })
    expect(text).toContain('SLUICE_DENIED')
  })

  test('passes a custom error handler everything it needs', async () => {
    let seen: Record<string, unknown> = {}
    const handler: ErrorRequestHandler = (error, _req, res, _next) => {
      seen = error
      res.status(error.status).json({ oops: error.code })
    }
    const made = app(handler)
    await request(made).get('/')
    const { status, body, headers } = await request(made).get('/')
    expect([status, body]).toEqual([429, { oops: 'SLUICE_DENIED' }])
    expect(headers['retry-after']).toBe('60')
    expect(seen).toMatchObject({ status: 429, statusCode: 429, expose: true, code: 'SLUICE_DENIED' })
    expect(seen.headers).toMatchObject({ 'Retry-After': '60', 'Cache-Control': 'no-store' })
    expect(String(seen.message)).toContain('api')
  })

  test('passes the denial of a full cap on as well', async () => {
    const made = make()
    const cap = inflightLimit({ limit: 1, next: true })
    made.get('/', cap, ok)
    const permit = await cap.limiter.acquire()
    const { status, headers } = await request(made).get('/')
    expect([status, headers.ratelimit]).toEqual([503, '"inflight";r=0'])
    permit?.release()
    expect((await request(made).get('/')).status).toBe(200)
  })
}

function wrapped(make: typeof express): void {
  test('limits its handler, which may call next', async () => {
    const app = make()
    const handler: RequestHandler = (req, res, next) => (req.query.on ? next() : void res.send('first'))
    app.get('/', rateLimit({ limit: 2, window: '1m', key: byHeader('x-user') }).wrap(handler), (_req, res) => {
      res.send('second')
    })
    expect((await request(app).get('/')).text).toBe('first')
    expect((await request(app).get('/?on=1')).text).toBe('second')
    expect((await request(app).get('/')).status).toBe(429)
  })
}
