import { once } from 'node:events'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import Router from '@koa/router'
import * as ofExpress from '@sluice/express'
import * as ofFastify from '@sluice/fastify'
import * as ofKoa from '@sluice/koa'
import * as ofNode from '@sluice/node-http'
import { byRoute, type Observer } from '@sluice/node-http'
import { eachSeed, type RunningApp } from '@sluice/testkit'
import express, { type RequestHandler } from 'express'
import { fastify } from 'fastify'
import Koa from 'koa'
import { express4 } from '../../adapters/express/express4.ts'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { Koa2 } from '../../adapters/koa/koa2.ts'
import { askRandomly } from '../../adapters/random-requests.ts'
import { running } from '../../adapters/running-app.ts'

const RUNS = 2
const REQUESTS = 480
const loose = { limit: 1_000_000, window: '1m', key: byRoute() } as const

interface Watched {
  readonly app: RunningApp
  readonly paths: readonly string[]
}

/** Checks that random requests produce exactly the `expected` keys, all of them counted. */
async function holds(make: (observers: readonly Observer[]) => Promise<Watched>, expected: readonly string[]) {
  const keys = new Set<string>()
  const { app, paths } = await make([{ decided: (key) => keys.add(key) }])
  await eachSeed(RUNS, (random) => askRandomly(app.port, paths, random, REQUESTS))
  await app.close()
  expect([...keys].sort()).toEqual([...expected].sort())
}

describe.each([
  ['Express 4', express4, { team: '/teams(?:/([^/]+?))', re: '/re-[a-z]+', two: '/one|/two(?:/([^/]+?))' }],
  ['Express 5', express, { team: '/teams/:team', re: '/^\\/re-[a-z]+/i', two: '/one,/two/:x' }],
])('%s', (_version, make, { team, re, two }) => {
  const ok: RequestHandler = (_req, res) => {
    res.send('ok')
  }
  const app = async (observers: readonly Observer[]): Promise<Watched> => {
    const limit = ofExpress.rateLimit({ ...loose, observers })
    const [whole, teams, rooms, others, tenants] = [make(), make.Router(), make.Router(), make.Router(), make()]
    rooms.get('/:id', limit, ok)
    teams.get('/', limit, ok).post('/', limit, ok).put('/', limit, ok)
    teams.all('/all', limit, ok).use('/rooms', rooms)
    others.get('/:id', limit, ok)
    tenants.use('/t', make.Router().get(['/list', /^\/ids\/\d+/], limit, ok))
    whole.use('/teams/:team', teams).use(/^\/re-[a-z]+/i, make.Router().get('/:id', limit, ok))
    whole.use(['/one', '/two/:x'], others).use('/tenants/:tenant', tenants)
    whole.use('/called/:x', (req, res, next) => others(req, res, next))
    whole.get('/files/:name', limit, ok)
    whole.use(ofExpress.rateLimit({ ...loose, name: 'rest', observers }), ok)
    const paths = ['/teams/*', '/teams/*/all', '/teams/*/rooms/*', '/re-*/*', '/one/*', '/two/*/*', '/called/*/*']
    return {
      app: await running(whole),
      paths: [...paths, '/tenants/*/t/list', '/tenants/*/t/ids/7*', '/files/*', '/*'],
    }
  }

  test('counts only keys of routes that the application defined', async () => {
    await holds(app, [
      `GET ${team}/`,
      `POST ${team}/`,
      `PUT ${team}/`,
      `GET ${team}/all`,
      `GET ${team}/rooms/:id`,
      `GET ${two}/:id`,
      'GET /tenants/:tenant/t/list,/^\\/ids\\/\\d+/',
      'GET /files/:name',
      `GET ${re}/:id`,
      '(no route)',
    ])
  })
})

describe.each([
  ['Koa 2', Koa2],
  ['Koa 3', Koa],
])('%s', (_version, Make) => {
  const app = async (observers: readonly Observer[]): Promise<Watched> => {
    const ok: Koa.Middleware = (ctx) => {
      ctx.body = 'ok'
    }
    const limit = ofKoa.rateLimit({ ...loose, observers })
    const ofRouter = ofKoa.rateLimit({ ...loose, name: 'router', observers })
    const rooms = new Router({ prefix: '/rooms/:room' }).get('/:id', limit, ok).all('/all/of/it', limit, ok)
    const teams = new Router({ prefix: '/teams/:team' }).use(ofRouter)
    teams.get('/', limit, ok).post('/', limit, ok).use('/in/:part', rooms.routes())
    const files = new Router().get('/files/{*rest}', limit, ok)
    files.register('/list', ['PUT', 'PATCH'], [limit, ok])
    files.get(/^\/re-[a-z]+/i, limit, ok)
    const koa = new Make()
    koa.use(teams.routes()).use(teams.allowedMethods()).use(files.routes())
    koa.use(ofKoa.rateLimit({ ...loose, name: 'rest', observers }))
    const paths = ['/teams/*', '/teams/*/in/*/rooms/*/*', '/teams/*/in/*/rooms/*/all/of/it', '/files/*/*', '/list']
    return { app: await running(koa.callback()), paths: [...paths, '/re-*', '/*'] }
  }

  test('counts only keys of routes that the application defined', async () => {
    await holds(app, [
      'GET /teams/:team{/*rest}',
      'GET /teams/:team',
      'POST /teams/:team',
      'GET /teams/:team/in/:part/rooms/:room/:id',
      'GET /teams/:team/in/:part/rooms/:room/all/of/it',
      'GET /files/{*rest}',
      'PUT /list',
      'GET /^\\/re-[a-z]+/i',
      '(no route)',
    ])
  })
})

describe.each([
  ['Fastify 4', fastify4],
  ['Fastify 5', fastify],
])('%s', (_version, make) => {
  const app = async (observers: readonly Observer[]): Promise<Watched> => {
    const made = make({ ignoreTrailingSlash: false, caseSensitive: false })
    const ok = async (): Promise<string> => 'ok'
    made.addHook('onRequest', ofFastify.rateLimit({ ...loose, observers }))
    made.get('/teams/:team', ok).post('/teams/:team', ok)
    made.route({ method: ['GET', 'POST'], url: '/both/:id', handler: ok })
    made.route({ method: ['PUT', 'PATCH'], url: '/both/:id', handler: ok })
    made.all('/all/:id', ok)
    made.get('/files/*', ok)
    made.register(
      async (part) => {
        part.get('/', ok)
        part.get('/re-:id(^\\d+)', ok)
      },
      { prefix: '/tenants/:tenant' },
    )
    await made.listen({ port: 0, host: '127.0.0.1' })
    const close = async (): Promise<void> => {
      made.server.closeAllConnections()
      await made.close()
    }
    const paths = ['/teams/*', '/both/*', '/all/*', '/files/*/*', '/tenants/*', '/tenants/*/re-7', '/*']
    return { app: { port: (made.server.address() as AddressInfo).port, close }, paths }
  }

  test('counts only keys of routes that the application defined', async () => {
    await holds(app, [
      'GET /teams/:team',
      'POST /teams/:team',
      'GET /both/:id',
      'PUT /both/:id',
      'GET /all/:id',
      'GET /files/*',
      'GET /tenants/:tenant',
      'GET /tenants/:tenant/re-:id(^\\d+)',
      '(no route)',
    ])
  })
})

describe('node:http', () => {
  test('counts one key', async () => {
    const app = async (observers: readonly Observer[]): Promise<Watched> => {
      const limit = ofNode.rateLimit({ ...loose, observers })
      return { app: await running(limit.wrap((_req, res) => res.end('ok'))), paths: ['/*', '/a/*'] }
    }
    await holds(app, ['(no route)'])
  })

  test('counts one key for all methods that an HTTP/2 client makes up', async () => {
    const keys = new Set<string>()
    const limit = ofKoa.rateLimit({ ...loose, observers: [{ decided: (key) => keys.add(key) }] })
    const server = createHttp2Server(new Koa().use(limit).callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const answered = ['GET', 'JUNK', 'get', 'X-1', 'X-2'].map(async (method) => {
      const stream = session.request({ ':method': method }).resume()
      stream.end()
      await once(stream, 'close')
    })
    await Promise.all(answered)
    session.close()
    await new Promise((resolve) => server.close(resolve))
    expect([...keys]).toEqual(['(no route)'])
  })
})
