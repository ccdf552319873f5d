import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import { inflightLimit, rateLimit, shed, slowDown } from '@sluice/koa'
import {
  type AppDescription,
  type HookBridge,
  type LimiterSpec,
  nativeOptions,
  onceEach,
  type Reply,
} from '@sluice/testkit'
import type Koa from 'koa'
import type { Context, Middleware } from 'koa'

const bridge: HookBridge<Context, Koa.Response> = {
  request: (ctx) => ({ method: ctx.method, header: (name) => ctx.req.headers[name] as string | undefined }),
  response: (response) => ({
    get statusCode() {
      return response.status
    },
    status: (code) => {
      response.status = code
    },
    send: (reply) => send(response, reply),
  }),
}

function send(response: Koa.Response, { status, headers = {}, body = '', parts }: Reply): void {
  if (status !== undefined) response.status = status
  response.set(headers as Record<string, string>)
  response.body = parts ? Readable.from(parts) : body
}

/** Builds the contract's application on an empty Koa application. */
export function koaApp(app: Koa, description: AppDescription): RequestListener {
  const { headers = {}, limits, routes, builtPerRequest } = description
  const limiter = builtPerRequest ? built : onceEach(built)
  const middleware = (spec: LimiterSpec): Middleware =>
    builtPerRequest ? (ctx, next) => limiter(spec)(ctx, next) : limiter(spec)
  app.silent = true
  app.use((ctx, next) => {
    ctx.set(headers as Record<string, string>)
    return next()
  })
  for (const spec of limits) app.use(middleware(spec))
  for (const { path, limits: own = [], handler } of routes) {
    const at =
      (step: Middleware): Middleware =>
      (ctx, next) =>
        ctx.path === path ? step(ctx, next) : next()
    for (const spec of own) app.use(at(middleware(spec)))
    app.use(
      at(async (ctx) => {
        send(ctx.response, await handler({ request: bridge.request(ctx), sluice: ctx.state.sluice }))
      }),
    )
  }
  return app.callback()
}

const makers = { rate: rateLimit, cap: inflightLimit, slow: slowDown, shed }

function built({ kind, options }: LimiterSpec): Middleware {
  return makers[kind](nativeOptions(options, bridge))
}
