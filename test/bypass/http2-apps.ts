import { getRequestListener } from '@hono/node-server'
import { createSluice as fastifySluice, sluice } from '@sluice/fastify'
import { createSluice as honoSluice } from '@sluice/hono'
import { createSluice as koaSluice } from '@sluice/koa'
import type { LimitedApp } from '@sluice/testkit'
import type { FastifyServerOptions, fastify } from 'fastify'
import { Hono } from 'hono'
import type Koa from 'koa'
import { started } from './login-apps.ts'
import { type Kept, limitOf } from './login-limit.ts'

/** Applications with a limited route `POST /login` on a server of HTTP/2, behind a cap on all requests. */

const limit = () => limitOf('client', '/login', 'POST')
const CAP = { limit: 1_000 }
/** Lets the other requests of a write arrive before the first response. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

export function fastifyOnHttp2(lib: typeof fastify): Promise<LimitedApp> {
  return started(async (kept: Kept) => {
    const app = lib({ http2: true } as unknown as FastifyServerOptions)
    const { inflightLimit } = fastifySluice(kept.shared)
    const cap = inflightLimit(CAP)
    kept.cap = cap.limiter
    await app.register(sluice, kept.shared)
    app.addHook('onRequest', cap)
    app.post('/login', { config: { sluice: { rateLimit: limit() } } }, async () => {
      await turn()
      return 'welcome'
    })
    await app.ready()
    return (req, res) => app.routing(req as never, res as never)
  }, true)
}

export function koaOnHttp2(App: typeof Koa): Promise<LimitedApp> {
  return started((kept: Kept) => {
    const { rateLimit, inflightLimit } = koaSluice(kept.shared)
    const cap = inflightLimit(CAP)
    kept.cap = cap.limiter
    const app = new App()
    app.use(cap as never).use(rateLimit(limit()) as never)
    app.use(async (ctx) => {
      await turn()
      ctx.body = 'welcome'
    })
    return app.callback() as never
  }, true)
}

export function honoOnHttp2(): Promise<LimitedApp> {
  return started((kept: Kept) => {
    const { rateLimit, inflightLimit } = honoSluice(kept.shared)
    const cap = inflightLimit(CAP)
    kept.cap = cap.limiter
    const app = new Hono()
    app.post('/login', cap, rateLimit(limit()), async (c) => {
      await turn()
      return c.text('welcome')
    })
    return getRequestListener(app.fetch) as never
  }, true)
}
