import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import Router from '@koa/router'
import { createSluice as expressSluice } from '@sluice/express'
import { createSluice as fastifySluice, sluice } from '@sluice/fastify'
import { createSluice as fetchSluice } from '@sluice/fetch'
import { createSluice as honoSluice } from '@sluice/hono'
import { createSluice as koaSluice } from '@sluice/koa'
import { createSluice as nodeSluice } from '@sluice/node-http'
import type { LimitedApp } from '@sluice/testkit'
import express from 'express'
import { type FastifyInstance, type FastifyServerOptions, fastify } from 'fastify'
import { Hono } from 'hono'
import { methodOverride as honoMethodOverride } from 'hono/method-override'
import Koa from 'koa'
import methodOverride from 'method-override'
import { type Counting, Kept, limitOf } from './login-limit.ts'

/** The limited route of an application. */
export interface Login {
  readonly counting: Counting
  readonly method: 'GET' | 'POST'
  readonly path: string
}

const verb = (method: Login['method']): 'get' | 'post' => (method === 'GET' ? 'get' : 'post')

/** Starts an application whose listener `build` makes with limits from `kept`. */
export async function started(
  build: (kept: Kept) => Promise<RequestListener> | RequestListener,
  isHttp2 = false,
): Promise<LimitedApp> {
  const kept = new Kept()
  const listener = await build(kept)
  const server = isHttp2 ? createHttp2Server(listener as never) : createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    kept: () => kept.count(),
    held: async () => (await kept.cap?.count()) ?? 0,
    close: async () => {
      if ('closeAllConnections' in server) server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await kept.close()
    },
  }
}

export function expressLogin(lib: typeof express, settings: readonly string[], { counting, method, path }: Login) {
  return started((kept) => {
    const { rateLimit } = expressSluice(kept.shared)
    const app = lib()
    for (const setting of settings) app.enable(setting)
    app[verb(method)](path, rateLimit(limitOf(counting, path, method)), (_req, res) => void res.send('welcome'))
    return app
  })
}

/** Counts requests in front of the router. */
export function mountedExpressLogin(lib: typeof express, { counting, method, path }: Login) {
  return started((kept) => {
    const { rateLimit } = expressSluice(kept.shared)
    const app = lib()
    app.use(path, rateLimit(limitOf(counting, path, method)))
    app[verb(method)](path, (_req, res) => void res.send('welcome'))
    return app
  })
}

export function koaLogin(App: typeof Koa, { counting, method, path }: Login) {
  return started((kept) => {
    const { rateLimit } = koaSluice(kept.shared)
    const router = new Router()
    router[verb(method)](path, rateLimit(limitOf(counting, path, method)) as never, (ctx) => {
      ctx.body = 'welcome'
    })
    const app = new App()
    app.use(router.routes() as never).use(router.allowedMethods() as never)
    return app.callback()
  })
}

/** Adds the limit to a route by `config`, or by a hook if `withHook`. */
export function fastifyLogin(
  lib: typeof fastify,
  settings: FastifyServerOptions,
  { counting, method, path }: Login,
  withHook = false,
) {
  return started(async (kept) => {
    const app = lib({ ...settings, exposeHeadRoutes: true } as never)
    const { rateLimit } = fastifySluice(kept.shared)
    const options = limitOf(counting, path, method)
    if (!withHook) await app.register(sluice, kept.shared)
    const route = withHook ? { onRequest: rateLimit(options) } : { config: { sluice: { rateLimit: options } } }
    app.route({ method, url: path, ...route, handler: async () => 'welcome' } as never)
    await app.ready()
    return (req, res) => app.routing(req as never, res as never)
  })
}

/** Adds the limit to the root of a prefix, for which Fastify has two routes. */
export function prefixedFastifyLogin(lib: typeof fastify, { counting, method, path }: Login) {
  return started(async (kept) => {
    const app = lib()
    await app.register(sluice, kept.shared)
    const config = { sluice: { rateLimit: limitOf(counting, path, method) } }
    const child = async (part: FastifyInstance): Promise<void> => {
      part.route({ method, url: '/', config, handler: async () => 'welcome' })
    }
    await app.register(child, { prefix: path })
    await app.ready()
    return (req, res) => app.routing(req as never, res as never)
  })
}

/** Counts requests by middleware of the whole application. */
export function mountedHonoLogin({ counting, method, path }: Login) {
  return started((kept) => {
    const { rateLimit } = honoSluice(kept.shared)
    const app = new Hono({ strict: false })
    app.use(rateLimit(limitOf(counting, path, method)))
    app[verb(method)](path, (c) => c.text('welcome'))
    return getRequestListener(app.fetch)
  })
}

export function honoLogin(strict: boolean, { counting, method, path }: Login) {
  return started((kept) => {
    const { rateLimit } = honoSluice(kept.shared)
    const app = new Hono({ strict })
    app[verb(method)](path, rateLimit(limitOf(counting, path, method)), (c) => c.text('welcome'))
    return getRequestListener(app.fetch)
  })
}

export function fetchLogin({ counting, method, path }: Login) {
  return started((kept) => {
    const { rateLimit } = fetchSluice(kept.shared)
    const handle = rateLimit(limitOf(counting, path, method)).wrap(() => new Response('welcome'))
    return getRequestListener((request: Request) => {
      const isMethod = request.method === method || (method === 'GET' && request.method === 'HEAD')
      const isLogin = isMethod && new URL(request.url).pathname === path
      return isLogin ? handle(request) : new Response('not found', { status: 404 })
    })
  })
}

/** An application that compares paths itself, without their case. A cap holds places while requests are handled. */
export function nodeLogin({ counting, method, path }: Login, isHttp2 = false) {
  return started((kept) => {
    const { rateLimit, inflightLimit } = nodeSluice(kept.shared)
    const cap = inflightLimit({ limit: 1_000 })
    kept.cap = cap.limiter
    const limit = rateLimit(limitOf(counting, path, method))
    const handle = limit.wrap((_req, res) => void setImmediate(() => res.end('welcome')))
    return (req, res) => {
      const [asked] = (req.url ?? '').split('?', 1)
      const isMethod = req.method === method || (method === 'GET' && req.method === 'HEAD')
      if (isMethod && asked.toLowerCase() === path) cap(req, res, () => void handle(req as never, res))
      else res.writeHead(404).end()
    }
  }, isHttp2)
}

/** An application in which a header replaces the method in front of the limit. */
export function overridingExpressLogin(lib: typeof express, { counting, path }: Login) {
  return started((kept) => {
    const { rateLimit } = expressSluice(kept.shared)
    const app = lib()
    app.use(methodOverride())
    app.delete(path, rateLimit(limitOf(counting, path, 'DELETE')), (_req, res) => void res.send('welcome'))
    return app
  })
}

/** An application in which a header replaces the method behind the limit, which must not read the method. */
export function laterOverridingExpressLogin(lib: typeof express, { counting, method, path }: Login) {
  return started((kept) => {
    const { rateLimit } = expressSluice(kept.shared)
    const app = lib()
    app.use(path, rateLimit(limitOf(counting, path, method)), methodOverride())
    app.all(path, (_req, res) => void res.send('welcome'))
    return app
  })
}

/** Like `overridingExpressLogin`, by middleware of its own. */
export function overridingKoaLogin(App: typeof Koa, { counting, path }: Login) {
  return started((kept) => {
    const { rateLimit } = koaSluice(kept.shared)
    const router = new Router()
    router.delete(path, rateLimit(limitOf(counting, path, 'DELETE')) as never, (ctx) => {
      ctx.body = 'welcome'
    })
    const app = new App()
    app.use((ctx, next) => {
      const wanted = ctx.get('x-http-method-override')
      if (wanted !== '' && ctx.method === 'POST') ctx.method = wanted
      return next()
    })
    app.use(router.routes() as never)
    return app.callback()
  })
}

/** Hono sends the request to the application again if a header replaces its method. */
export function overridingHonoLogin({ counting, path }: Login) {
  return started((kept) => {
    const { rateLimit } = honoSluice(kept.shared)
    const app = new Hono()
    app.use('*', honoMethodOverride({ app, header: 'x-http-method-override' }))
    app.delete(path, rateLimit(limitOf(counting, path, 'DELETE')), (c) => c.text('welcome'))
    return getRequestListener(app.fetch)
  })
}

/** Routes for all methods. */
export const anyMethodLogins: Readonly<Record<string, (login: Login) => Promise<LimitedApp>>> = {
  Express: ({ counting, method, path }) =>
    started((kept) => {
      const limit = expressSluice(kept.shared).rateLimit(limitOf(counting, path, method))
      return express().all(path, limit, (_req, res) => void res.send('welcome'))
    }),
  Koa: ({ counting, method, path }) =>
    started((kept) => {
      const limit = koaSluice(kept.shared).rateLimit(limitOf(counting, path, method))
      const router = new Router().all(path, limit as never, (ctx) => {
        ctx.body = 'welcome'
      })
      return new Koa().use(router.routes() as never).callback()
    }),
  Fastify: ({ counting, method, path }) =>
    started(async (kept) => {
      const app = fastify()
      await app.register(sluice, kept.shared)
      const config = { sluice: { rateLimit: limitOf(counting, path, method) } }
      app.all(path, { config }, async () => 'welcome')
      await app.ready()
      return (req, res) => app.routing(req, res)
    }),
  Hono: ({ counting, method, path }) =>
    started((kept) => {
      const limit = honoSluice(kept.shared).rateLimit(limitOf(counting, path, method))
      return getRequestListener(new Hono().all(path, limit, (c) => c.text('welcome')).fetch)
    }),
}
