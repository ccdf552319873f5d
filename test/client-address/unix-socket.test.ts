import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { afterAll, describe, expect, test } from '@jest/globals'
import { explainClient as explainExpress, rateLimit as expressLimit } from '@sluice/express'
import { explainClient as explainFastify, rateLimit as fastifyLimit } from '@sluice/fastify'
import { explainClient as explainFetch, type FetchInfo, rateLimit as fetchLimit } from '@sluice/fetch'
import { explainClient as explainHono, rateLimit as honoLimit } from '@sluice/hono'
import type { ProxyTrustOption } from '@sluice/http'
import { explainClient as explainKoa, rateLimit as koaLimit } from '@sluice/koa'
import { explainClient as explainNode, rateLimit as nodeLimit } from '@sluice/node-http'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { memoryFolder } from '../services/memory-folder.ts'

const folder = memoryFolder('sluice-unix-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const limit = (trust: ProxyTrustOption) => ({ limit: 1, window: '10m' as const, trust })

/** Applications that admit one request per client, and answer with the key of the client. */
const applications: Readonly<Record<string, (trust: ProxyTrustOption) => Promise<RequestListener> | RequestListener>> =
  {
    'node:http': (trust) => {
      const limited = nodeLimit(limit(trust))
      return (req, res) => void limited(req, res, () => res.end(explainNode(req, { trust }).key))
    },
    Express: (trust) => {
      const app = express()
      app.use(expressLimit(limit(trust)))
      return app.get('/', (req, res) => void res.send(explainExpress(req, { trust }).key))
    },
    Koa: (trust) => {
      const app = new Koa()
      app.use(koaLimit(limit(trust)))
      app.use((ctx) => {
        ctx.body = explainKoa(ctx, { trust }).key
      })
      return app.callback()
    },
    Fastify: async (trust) => {
      const app = fastify()
      app.addHook('onRequest', fastifyLimit(limit(trust)))
      app.get('/', (request) => explainFastify(request, { trust }).key)
      await app.ready()
      return app.routing as RequestListener
    },
    fetch: (trust) => {
      const answer = (request: Request, info: FetchInfo) => new Response(explainFetch(request, info, { trust }).key)
      return getRequestListener(fetchLimit(limit(trust)).wrap(answer) as never)
    },
    Hono: (trust) => {
      const app = new Hono()
      app.use(honoLimit(limit(trust)))
      app.get('/', (c) => c.text(explainHono(c, { trust }).key))
      return getRequestListener(app.fetch)
    },
  }

let sockets = 0

/** Sends requests of a proxy on this machine, and returns the status and the body of each response. */
async function askBehindProxy(listener: RequestListener, forwarded: readonly string[]): Promise<[number, string][]> {
  const path = join(folder, `${++sockets}.sock`)
  const server = createServer(listener).listen(path)
  await once(server, 'listening')
  const answers: [number, string][] = []
  for (const one of forwarded) {
    const socket = connect(path)
    socket.write(`GET / HTTP/1.0\r\nHost: localhost\r\nX-Forwarded-For: ${one}\r\n\r\n`)
    const answer = await text(socket)
    answers.push([Number(answer.split(' ')[1]), answer.slice(answer.indexOf('\r\n\r\n') + 4)])
  }
  server.close()
  return answers
}

describe.each(Object.entries(applications))('behind a proxy at a Unix socket, %s', (_name, application) => {
  test.each<[string, ProxyTrustOption]>([
    ['nginx', 'nginx'],
    ['addresses of this machine', { ranges: ['127.0.0.1'], header: 'x-forwarded-for' }],
    ['unknown peers', { ranges: ['unknown'], header: 'x-forwarded-for' }],
  ])('counts each client if `trust` names %s', async (_what, trust) => {
    const forwarded = ['192.0.2.1', '192.0.2.2', '192.0.2.9, 192.0.2.2']
    const answers = await askBehindProxy(await application(trust), forwarded)
    expect(answers.map(([status]) => status)).toEqual([200, 200, 429])
    expect(answers.slice(0, 2).map(([, key]) => key)).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test('counts all clients together if `trust` names a proxy of another place', async () => {
    const answers = await askBehindProxy(await application('cloudflare'), ['192.0.2.1', '192.0.2.2'])
    expect(answers.map(([status]) => status)).toEqual([200, 429])
  })
})
