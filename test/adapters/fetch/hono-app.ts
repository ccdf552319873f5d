import type { FetchReply } from '@sluice/fetch'
import { inflightLimit, rateLimit, shed, slowDown } from '@sluice/hono'
import { type AppDescription, type HookBridge, type LimiterSpec, nativeOptions, onceEach } from '@sluice/testkit'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { bridge as fetchBridge, replyBridge, responseOf, streamOf } from './fetch-bridge.ts'

const bridge: HookBridge<Context, FetchReply> = {
  request: (c) => fetchBridge.request(c.req.raw),
  response: replyBridge,
}

const makers = { rate: rateLimit, cap: inflightLimit, slow: slowDown, shed }

function built({ kind, options }: LimiterSpec): MiddlewareHandler {
  return makers[kind](nativeOptions(options, bridge))
}

/** Builds the contract's application on Hono. */
export function honoApp({ headers = {}, limits, routes, builtPerRequest }: AppDescription): Hono {
  const limiter = builtPerRequest ? built : onceEach(built)
  const middleware = (spec: LimiterSpec): MiddlewareHandler =>
    builtPerRequest ? (c, next) => limiter(spec)(c, next) : limiter(spec)
  const app = new Hono()
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    await next()
  })
  for (const spec of limits) app.use(middleware(spec))
  for (const { path, limits: own = [], handler } of routes) {
    for (const spec of own) app.use(path, middleware(spec))
    app.all(path, async (c) => {
      const {
        status = 200,
        headers: more = {},
        body = '',
        parts,
      } = await handler({
        request: bridge.request(c),
        sluice: c.var.sluice,
      })
      return c.newResponse(parts ? streamOf(parts) : body, { status: status as 200, headers: more })
    })
  }
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse()
    return responseOf({ status: 500, body: String(error) })
  })
  return app
}
