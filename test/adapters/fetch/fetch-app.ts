import { type FetchMiddleware, inflightLimit, rateLimit, shed, slowDown, sluiceOf } from '@sluice/fetch'
import { type AppDescription, type Handler, type LimiterSpec, nativeOptions, onceEach } from '@sluice/testkit'
import { bridge, responseOf } from './fetch-bridge.ts'

/** A handler of Web-standard requests. `info` is what the server passes beside the request. */
export type FetchHandler = (request: Request, info?: unknown) => Response | Promise<Response>

const makers = { rate: rateLimit, cap: inflightLimit, slow: slowDown, shed }

function built({ kind, options }: LimiterSpec): FetchMiddleware {
  return makers[kind](nativeOptions(options, bridge))
}

/** Builds the contract's application as one handler. */
export function fetchApp({ headers = {}, limits, routes, builtPerRequest }: AppDescription): FetchHandler {
  const limiter = builtPerRequest ? built : onceEach(built)
  const before = (inner: FetchHandler, spec: LimiterSpec): FetchHandler => {
    if (builtPerRequest) return (request, info) => limiter(spec).wrap(inner)(request, info)
    return limiter(spec).wrap(inner)
  }
  const handlers = new Map(
    routes.map(({ path, limits: own = [], handler }) => [
      path,
      [...limits, ...own].reduceRight(before, answering(handler, headers)),
    ]),
  )
  return (request, info) => (handlers.get(new URL(request.url).pathname) ?? notFound)(request, info)
}

function notFound(): Response {
  return new Response('not found', { status: 404 })
}

/** Without middleware, an application sets its headers on the responses of its handlers. */
function answering(handler: Handler, headers: Readonly<Record<string, string>>): FetchHandler {
  return async (request) => {
    try {
      const reply = await handler({ request: bridge.request(request), sluice: sluiceOf(request) })
      return responseOf({ ...reply, headers: { ...headers, ...reply.headers } })
    } catch (error) {
      return new Response(String(error), { status: 500 })
    }
  }
}
