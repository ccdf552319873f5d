import type { RequestListener } from 'node:http'
import { inflightLimit, type RequestSluice, rateLimit, shed, slowDown } from '@sluice/express'
import { type AppDescription, type LimiterSpec, nativeOptions, onceEach } from '@sluice/testkit'
import type { RequestHandler } from 'express'
import { bridge, send } from './connect-bridge.ts'

/** The interface that Express 4 and 5 share, for the two versions that the tests install. */
export interface ExpressLike extends RequestListener {
  use(...handlers: readonly RequestHandler[]): unknown
  all(path: string, ...handlers: readonly RequestHandler[]): unknown
}

/** Builds the contract's application on an empty Express application. */
export function expressApp<App extends ExpressLike>(app: App, description: AppDescription): App {
  const { headers = {}, limits, routes, builtPerRequest } = description
  const limiter = builtPerRequest ? built : onceEach(built)
  const middleware = (spec: LimiterSpec): RequestHandler =>
    builtPerRequest ? (req, res, next) => limiter(spec)(req, res, next) : limiter(spec)
  app.use((_req, res, next) => {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    next()
  })
  for (const spec of limits) app.use(middleware(spec))
  for (const { path, limits: own = [], handler } of routes) {
    app.all(path, ...own.map(middleware), (req, res, next) => {
      Promise.resolve(handler({ request: bridge.request(req), sluice: req.sluice as RequestSluice })).then(
        (reply) => send(res, reply),
        next,
      )
    })
  }
  return app
}

const makers = { rate: rateLimit, cap: inflightLimit, slow: slowDown, shed }

function built({ kind, options }: LimiterSpec): RequestHandler {
  return makers[kind](nativeOptions(options, bridge))
}
