import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as fastifyLimit, sluice as fastifySluice } from '@sluice/fastify'
import { rateLimit as fetchLimit } from '@sluice/fetch'
import { rateLimit as honoLimit } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'
import { rateLimit as nodeLimit } from '@sluice/node-http'
import { type PolicyOptions, policies } from '@sluice/policies'
import express from 'express'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import request from 'supertest'
import { TextSource } from './text-source.ts'

beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
  jest.restoreAllMocks()
})

/** Loads the policies of a framework whose requests have headers as `user` reads them. */
// biome-ignore lint/suspicious/noExplicitAny: requests of each framework
type Loaded = (user: (request: any) => unknown) => PolicyOptions<any, any>

async function listenerOf(app: FastifyInstance): Promise<RequestListener> {
  open.push(() => app.close())
  await app.ready()
  return (req, res) => app.routing(req, res)
}

const frameworks: Readonly<Record<string, (load: Loaded) => RequestListener | Promise<RequestListener>>> = {
  express: (load) => {
    const limit = expressLimit(load((req) => req.get('x-user')))
    return express().get('/search', limit, (_req, res) => void res.send('found'))
  },
  koa: (load) => {
    const app = new Koa()
    app.use(koaLimit(load((ctx) => ctx.get('x-user'))))
    app.use((ctx) => {
      ctx.body = 'found'
    })
    return app.callback()
  },
  fastify: async (load) => {
    const app = fastify()
    app.get('/search', { onRequest: fastifyLimit(load(({ headers }) => headers['x-user'])) }, async () => 'found')
    return listenerOf(app)
  },
  'a route of the plugin of fastify': async (load) => {
    const app = fastify()
    await app.register(fastifySluice, { rateLimit: load(({ headers }) => headers['x-user']) })
    const own = { rateLimit: { name: 'own', limit: 1_000, window: '1m' } } as const
    app.get('/search', { config: { sluice: own } }, async () => 'found')
    return listenerOf(app)
  },
  fetch: (load) => {
    const limit = fetchLimit(load((req: Request) => req.headers.get('x-user')))
    return getRequestListener(limit.wrap(() => new Response('found')))
  },
  hono: (load) => {
    const app = new Hono()
    app.get('/search', honoLimit(load((c) => c.req.header('x-user'))), (c) => c.text('found'))
    return getRequestListener(app.fetch)
  },
  'node:http': (load) => {
    const limit = nodeLimit(load(({ headers }) => headers['x-user']))
    const handle = limit.wrap((_req: IncomingMessage, res: ServerResponse) => void res.end('found'))
    return (req, res) => void handle(req, res, () => res.destroy())
  },
}

function documentOf(limit: number, per: string): string {
  return JSON.stringify({
    version: 1,
    policies: [{ name: 'users', key: 'user', limit, per, match: { method: 'GET' } }],
  })
}

test.each(Object.keys(frameworks))('policies of a document limit requests and change on %s', async (name) => {
  const source = new TextSource(documentOf(1, '1m'))
  let loaded: PolicyOptions<object, unknown> | undefined
  const load: Loaded = (user) => {
    const options = policies<object, unknown>(source, { attributes: { user: (one) => user(one) as string } })
    loaded = options
    return options
  }
  const server = createServer(await frameworks[name](load))
  const get = async (user: string): Promise<number> => (await request(server).get('/search').set('x-user', user)).status
  expect([await get('anna'), await get('anna'), await get('ben')]).toEqual([200, 429, 200])
  for (const [limit, per] of [
    [2, '1m'],
    [3, '1h'],
  ] as const) {
    source.text = documentOf(limit, per)
    await loaded?.policies.reload()
    expect([await get('anna'), await get('anna')]).toEqual([200, 429])
  }
})

test('a route that omits the window follows the window of its policy in the document', async () => {
  const source = new TextSource(documentOf(9, '1m'))
  const rateLimit = policies<FastifyRequest, FastifyReply>(source, {
    attributes: { user: ({ headers }) => String(headers['x-user']) },
  })
  const app = fastify()
  await app.register(fastifySluice, { rateLimit })
  app.get('/own', { config: { sluice: { rateLimit: { name: 'users', limit: 1 } } } }, async () => 'found')
  const server = createServer(await listenerOf(app))
  const get = async (user: string): Promise<unknown[]> => {
    const { status, headers } = await request(server).get('/own').set('x-user', user)
    return [status, headers['ratelimit-policy']]
  }
  expect(await get('anna')).toEqual([200, '"users";q=1;w=60'])
  source.text = documentOf(9, '1h')
  await rateLimit.policies.reload()
  expect([await get('anna'), await get('ben')]).toEqual([
    [429, '"users";q=1;w=3600'],
    [200, '"users";q=1;w=3600'],
  ])
})
