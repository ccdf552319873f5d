import { createServer as createHttp2Server } from 'node:http2'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
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
import type express from 'express'
import type { FastifyServerOptions, fastify } from 'fastify'
import { Hono } from 'hono'
import type Koa from 'koa'
import { type Counting, Kept, limitOf } from './login-limit.ts'

/** The limited route of an application. */
export interface Login {
  readonly counting: Counting
  readonly method: 'GET' | 'POST'
  readonly path: string
}

const verb = (method: Login['method']): 'get' | 'post' => (method === 'GET' ? 'get' : 'post')

/** Starts an application whose listener `build` makes with limits from `kept`. */
async function started(build: (kept: Kept) => Promise<RequestListener> | RequestListener, isHttp2 = false): Promise<LimitedApp> {
  const kept = new Kept()
  const listener = await build(kept)
  const server = isHttp2 ? createHttp2Server(listener as never) : createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    kept: () => kept.count(),
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
    return (req, res) => app.routing(req, res)
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
      const isLogin = new URL(request.url).pathname === path && [method, 'HEAD'].includes(request.method)
      return isLogin ? handle(request) : new Response('not found', { status: 404 })
    })
  })
}

/** An application that compares paths itself, without their case. */
export function nodeLogin({ counting, method, path }: Login, isHttp2 = false) {
  return started((kept) => {
    const { rateLimit } = nodeSluice(kept.shared)
    const handle = rateLimit(limitOf(counting, path, method)).wrap((_req, res) => void res.end('welcome'))
    return (req, res) => {
      const [asked] = (req.url ?? '').split('?', 1)
      const isLogin = asked.toLowerCase() === path && (req.method === method || (method === 'GET' && req.method === 'HEAD'))
      if (isLogin) return void handle(req, res, () => res.destroy())
      res.writeHead(404).end()
    }
  }, isHttp2)
}
