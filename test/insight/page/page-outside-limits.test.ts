import { afterEach, expect, test } from '@jest/globals'
import * as ofExpress from '@sluice/express'
import { type FastifyPhase, sluice } from '@sluice/fastify'
import { createInsight, type Dashboard, dashboard, type Insight } from '@sluice/insight'
import * as ofKoa from '@sluice/koa'
import express from 'express'
import { fastify } from 'fastify'
import Koa from 'koa'
import { express4 } from '../../adapters/express/express4.ts'
import { fastify4 } from '../../adapters/fastify/fastify4.ts'
import { Koa2 } from '../../adapters/koa/koa2.ts'
import { type Listening, listening, listeningOf } from './open-page.ts'
import { ask, logIn } from './page-request.ts'

const token = 'a-token-of-enough-characters'
const headers = { authorization: `Bearer ${token}` }

/** Limits for the whole application: one request per window, and one request in flight. */
function limitsOf(insight: Insight) {
  const observers = [insight]
  return {
    rateLimit: { name: 'api', limit: 1, window: '1h', observers },
    inflightLimit: { name: 'cap', limit: 1, observers },
  } as const
}

type Limits = ReturnType<typeof limitsOf>
type MakeSite = (page: Dashboard, limits: Limits) => Promise<Listening>

const sites: Readonly<Record<string, MakeSite>> = {
  'Express 5': (page, limits) => siteOfExpress(express(), page, limits),
  'Express 4': (page, limits) => siteOfExpress(express4(), page, limits),
  'Koa 3': (page, limits) => siteOfKoa(new Koa(), page, limits),
  'Koa 2': (page, limits) => siteOfKoa(new Koa2(), page, limits),
  'Fastify 5, page first': siteOfFastify(fastify, { isPageFirst: true }),
  'Fastify 5, limits first': siteOfFastify(fastify, { isPageFirst: false }),
  'Fastify 5, page first, in preHandler': siteOfFastify(fastify, { isPageFirst: true, phase: 'preHandler' }),
  'Fastify 5, limits first, in preHandler': siteOfFastify(fastify, { isPageFirst: false, phase: 'preHandler' }),
  'Fastify 4, page first': siteOfFastify(fastify4, { isPageFirst: true }),
  'Fastify 4, limits first': siteOfFastify(fastify4, { isPageFirst: false }),
}

function siteOfExpress(app: ReturnType<typeof express>, page: Dashboard, limits: Limits): Promise<Listening> {
  app.use('/limits', page)
  app.use(ofExpress.rateLimit(limits.rateLimit), ofExpress.inflightLimit(limits.inflightLimit))
  app.get('/', (_req, res) => void res.send('ok'))
  return listening(app)
}

function siteOfKoa(app: Koa, page: Dashboard, limits: Limits): Promise<Listening> {
  app.use(page.koa)
  app.use(ofKoa.rateLimit(limits.rateLimit)).use(ofKoa.inflightLimit(limits.inflightLimit))
  app.use((ctx) => {
    ctx.body = 'ok'
  })
  return listening(app.callback())
}

function siteOfFastify(make: typeof fastify, order: { isPageFirst: boolean; phase?: FastifyPhase }): MakeSite {
  return async (page, limits) => {
    const app = make()
    if (order.isPageFirst) await app.register(page.fastify, { prefix: '/limits' })
    await app.register(sluice, { ...limits, phase: order.phase })
    if (!order.isPageFirst) await app.register(page.fastify, { prefix: '/limits' })
    app.get('/', async () => 'ok')
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { ...listeningOf(app.server), stop: () => app.close() }
  }
}

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

test.each(Object.keys(sites))(
  'on %s the page is not counted by the limits of the application, nor its stream by caps',
  async (name) => {
    const insight = createInsight()
    const page = dashboard({ insight, token, path: name.startsWith('Koa') ? '/limits' : '' })
    const { port, url, stop } = await sites[name](page, limitsOf(insight))
    const leaving = new AbortController()
    open.push(async () => {
      leaving.abort()
      page.close()
      await stop()
      await insight.close()
    })
    const stream = await fetch(`${url}limits/stream`, { headers, signal: leaving.signal })
    const statusOf = async (path: string) => (await ask(port, path, { headers })).status
    expect([stream.status, await statusOf('/limits'), await statusOf('/limits/')]).toEqual([200, 307, 200])
    expect([await statusOf('/limits/main.js'), await statusOf('/limits/nothing')]).toEqual([200, 404])
    expect((await logIn(port, '/limits/', token)).status).toBe(303)
    expect(insight.snapshot().policies).toEqual([])
    // the stream is open, and neither the limit nor the cap has counted anything
    expect([await statusOf('/'), await statusOf('/')]).toEqual([200, 429])
  },
)
