import 'reflect-metadata'
import type { Server } from 'node:http'
import { afterEach, describe, expect, test } from '@jest/globals'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { type Dashboard, dashboard } from '@sluice/insight'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { express4 } from '../../adapters/express/express4.ts'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { Koa2 } from '../../adapters/koa/koa2.ts'
import { listening, listeningOf } from './open-page.ts'
import { ask, cookieOf, logIn } from './page-request.ts'
import { WatchedFleet } from './simulated-fleet.ts'

const token = 'a-token-of-enough-characters'

interface Site {
  readonly port: number
  stop(): Promise<unknown>
}

const sites: Readonly<Record<string, (page: Dashboard, pathed: Dashboard) => Promise<Site>>> = {
  'node:http': (_page, pathed) =>
    listening((req, res) => pathed(req, res, () => res.writeHead(200).end('of the application'))),
  'Express 5': (page) => ofExpress(express(), page, express.urlencoded()),
  'Express 4': (page) => ofExpress(express4(), page, express4.urlencoded({ extended: false })),
  'Koa 3': (_page, pathed) => ofKoa(new Koa(), pathed),
  'Koa 2': (_page, pathed) => ofKoa(new Koa2(), pathed),
  'Fastify 5': (page) => ofFastify(fastify(), page),
  'Fastify 4': (page) => ofFastify(fastify4(), page),
  'Nest on Express': async (page) => ofNest(await NestFactory.create(Root, { logger: false }), page),
  'Nest on Fastify': async (page) =>
    ofNest(await NestFactory.create(Root, new FastifyAdapter(), { logger: false }), page),
}

class Root {}
Module({})(Root)

async function ofExpress(
  app: ReturnType<typeof express>,
  page: Dashboard,
  parser: ReturnType<typeof express.urlencoded>,
): Promise<Site> {
  // a parser before the page has already read the login
  app.use(parser)
  app.use('/limits', page)
  app.get('/app', (_req, res) => void res.send('of the application'))
  return await listening(app)
}

async function ofKoa(app: Koa, page: Dashboard): Promise<Site> {
  app.use(page.koa)
  app.use((ctx) => {
    ctx.body = 'of the application'
  })
  return await listening(app.callback())
}

async function ofFastify(app: ReturnType<typeof fastify>, page: Dashboard): Promise<Site> {
  app.register(page.fastify, { prefix: '/limits' })
  app.get('/app', () => 'of the application')
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: listeningOf(app.server as Server).port, stop: () => app.close() }
}

async function ofNest(app: Awaited<ReturnType<typeof NestFactory.create>>, page: Dashboard): Promise<Site> {
  app.use('/limits', page)
  app.use('/app', (_req: unknown, res: { end(text: string): void }) => res.end('of the application'))
  await app.listen(0, '127.0.0.1')
  return { port: listeningOf(app.getHttpServer() as Server).port, stop: () => app.close() }
}

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function siteOf(name: string, secret?: string): Promise<{ page: Dashboard; port: number }> {
  const insight = new WatchedFleet()
  const [page, pathed] = [dashboard({ insight, token: secret }), dashboard({ insight, token: secret, path: '/limits' })]
  const site = await sites[name](page, pathed)
  open.push(async () => {
    page.close()
    pathed.close()
    await site.stop()
  })
  return { page, port: site.port }
}

describe.each(Object.keys(sites))('%s', (name) => {
  test('shows the page, its files and its stream below its path, and passes other requests on', async () => {
    const { port } = await siteOf(name)
    expect(await ask(port, '/limits')).toMatchObject({ status: 307, headers: { location: './limits/' } })
    expect(await ask(port, '/limits/')).toMatchObject({ status: 200, text: expect.stringContaining('<h1>Limits</h1>') })
    const { headers } = await ask(port, '/limits/main.js', { headers: { 'accept-encoding': 'gzip' } })
    expect(headers).toMatchObject({ 'content-type': 'text/javascript; charset=utf-8', 'content-encoding': 'gzip' })
    const { status, text } = await ask(port, '/limits/stream')
    expect({ status, update: JSON.parse(text.split('data: ')[1]) }).toMatchObject({
      status: 200,
      update: { deniedShare: 0.012 },
    })
    const head = await ask(port, '/limits/', { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, text: '' })
    expect((await ask(port, '/limits/nothing')).headers['content-type']).toBe('application/problem+json')
    expect(await ask(port, '/app')).toMatchObject({ status: 200, text: 'of the application' })
  })

  test('accepts a login', async () => {
    const { port } = await siteOf(name, token)
    expect((await logIn(port, '/limits/', 'wrong')).status).toBe(401)
    const answer = await logIn(port, '/limits/', token)
    expect(answer.headers['set-cookie']?.[0]).toContain('; Path=/limits/;')
    expect((await ask(port, '/limits/', { headers: { cookie: cookieOf(answer) } })).status).toBe(200)
  })
})
