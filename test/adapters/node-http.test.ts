import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { describe, test } from '@jest/globals'
import { type ConnectHandler, inflightLimit, rateLimit, shed, slowDown } from '@sluice/node-http'
import {
  type AppDescription,
  adapterContract,
  type Handler,
  type LimiterSpec,
  nativeOptions,
  onceEach,
} from '@sluice/testkit'
import { bridge, send } from './express/connect-bridge.ts'
import { running } from './running-app.ts'

type NodeHandler = ConnectHandler<IncomingMessage, ServerResponse>

const makers = { rate: rateLimit, cap: inflightLimit, slow: slowDown, shed }

function built({ kind, options }: LimiterSpec) {
  return makers[kind](nativeOptions(options, bridge))
}

function listenerOf({ headers = {}, limits, routes, builtPerRequest }: AppDescription): RequestListener {
  const limiter = onceEach(built)
  const before = (inner: NodeHandler, spec: LimiterSpec): NodeHandler => {
    const middleware = builtPerRequest ? undefined : limiter(spec)
    return (req, res, next) => (middleware ?? built(spec))(req, res, () => inner(req, res, next))
  }
  const handlers = new Map(
    routes.map(({ path, limits: own = [], handler }) => [
      path,
      [...limits, ...own].reduceRight(before, answering(handler)),
    ]),
  )
  return (req, res) => {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    handlers.get(req.url ?? '')?.(req, res, () => {})
  }
}

function answering(handler: Handler): NodeHandler {
  return async (req, res) => {
    try {
      send(res, await handler({ request: bridge.request(req), sluice: req.sluice }))
    } catch (error) {
      send(res, { status: 500, body: String(error) })
    }
  }
}

describe('node:http', () => {
  adapterContract({ describe, test }, (description) => running(listenerOf(description)), {
    without: ['error-handlers'],
  })
})
