import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Counters } from '@sluice/fleet/backend'
import { hasUnreadBody } from '@sluice/fleet/backend'
import type { Clock, MetricSource } from '@sluice/limiter-core'
import { badOption, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { requestTarget } from './request-target.ts'
import { matchedRoute } from './route-table.ts'
import { type CounterServiceToken, checkScope, ServiceAccess, type ServiceCaller } from './service-access.ts'
import { type CounterServiceLimits, ServiceLimits } from './service-limits.ts'
import { ServiceMetrics } from './service-metrics.ts'
import { problemOf } from './service-problem.ts'
import type { ServiceResponse } from './service-response.ts'
import type { RouteCall, ServiceParts, ServiceRoute } from './service-routes.ts'

export interface CounterServiceOptions {
  /** Counters to serve. The service does not close them. */
  readonly counters: Counters
  /**
   * Bearer tokens that are accepted. Default: none, and only requests from this machine (by socket address) are
   * accepted, except forwarded ones and requests of web pages.
   */
  readonly tokens?: readonly CounterServiceToken[] | undefined
  /** Whether all clients may do everything without a token. Default: false. */
  readonly open?: boolean | undefined
  /** Limits on requests. Default: 1,000 in progress. */
  readonly limits?: CounterServiceLimits | undefined
  /**
   * Additional metric sources for `/metrics`, which always includes the requests of the service and, if they have
   * metrics, those of `counters`. Default: none.
   */
  readonly metrics?: readonly MetricSource[] | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** Request handler that is also a metric source. Its promise never rejects. */
export interface CounterService extends MetricSource {
  (req: IncomingMessage, res: ServerResponse): Promise<void>
}

const OPTIONS = ['counters', 'tokens', 'open', 'limits', 'metrics', 'clock'] as const
const UNKNOWN_ROUTE = 'unknown'

/**
 * Creates a handler that serves counters over HTTP, as described by `counterOpenApi`.
 *
 * - `node:http`: `createServer(service)`.
 * - Express: `app.use(service)`, or `app.use('/usage', service)`; before or after `express.json()`.
 * - Koa: `app.use(async (ctx) => { ctx.respond = false; await service(ctx.req, ctx.res) })`; below a path with
 *   `koa-mount`.
 * - Fastify: in a separate plugin, because the service must read the bodies itself:
 *   `scope.removeAllContentTypeParsers()`, `scope.addContentTypeParser('*', (_request, _payload, done) => done(null))`,
 *   `scope.all('/*', (request, reply) => { reply.hijack(); void service(request.raw, reply.raw) })`.
 *
 * Throws `SLUICE_BAD_OPTION`.
 */
export function counterService(options: CounterServiceOptions): CounterService {
  const requests = new ServiceRequests(optionsOf('counterService', options, OPTIONS))
  const handler = (req: IncomingMessage, res: ServerResponse): Promise<void> => requests.handle(req, res)
  return Object.assign(handler, { metrics: () => requests.metrics.metrics() })
}

class ServiceRequests {
  readonly metrics: ServiceMetrics = new ServiceMetrics()
  readonly #parts: ServiceParts
  readonly #access: ServiceAccess
  readonly #limits: ServiceLimits

  constructor({ counters, tokens, open, limits, metrics = [], clock }: CounterServiceOptions) {
    if (typeof counters?.incrementMany !== 'function') {
      throw badOption('counterService: counters', counters, 'counters such as createCounters()')
    }
    if (!Array.isArray(metrics) || !metrics.every(isSource)) {
      throw badOption('counterService: metrics', metrics, 'an array of metric sources')
    }
    // a set, because the caller may pass the same source again
    const sources = new Set([this.metrics, counters as Partial<MetricSource>, ...metrics].filter(isSource))
    this.#parts = { counters, clock: clockOf(clock), sources: [...sources] }
    this.#access = new ServiceAccess(tokens, open)
    this.#limits = new ServiceLimits(limits)
  }

  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { clock } = this.#parts
    const startedAt = clock.now()
    const seen = { route: UNKNOWN_ROUTE }
    const answer = await this.#answer(req, seen).catch((error: unknown) => problemOf(error).toResponse())
    const status = written(req, res, answer) ? String(answer.status) : 'closed'
    this.metrics.answered(seen.route, status, Math.max(0, clock.now() - startedAt))
  }

  async #answer(req: IncomingMessage, seen: { route: string }): Promise<ServiceResponse> {
    const caller = this.#access.callerOf(req)
    const { segments, query } = requestTarget(req.url ?? '')
    const { route, id } = matchedRoute(req.method ?? '', segments)
    seen.route = route.path
    const call: RouteCall = { ...this.#parts, req, id, query }
    if (route.scope === undefined) return route.run(call)
    const place = this.#limits.acquire()
    if (!('release' in place)) return place
    try {
      // before the scope is checked, so that guesses of tokens are limited, too
      const taken = await this.#limits.take(caller.key)
      if (taken.denied) return taken.denied
      const answer = await allowedAnswer(route, caller, call)
      return { ...answer, headers: { ...taken.headers, ...answer.headers } }
    } finally {
      place.release()
    }
  }
}

function isSource(value: Partial<MetricSource> | undefined): value is MetricSource {
  return typeof value?.metrics === 'function'
}

async function allowedAnswer(route: ServiceRoute, caller: ServiceCaller, call: RouteCall): Promise<ServiceResponse> {
  try {
    checkScope(caller, route.scope)
    return await route.run(call)
  } catch (error) {
    return problemOf(error).toResponse()
  }
}

/** Writes a response. Returns false if the client is gone or a response was already written. */
function written(req: IncomingMessage, res: ServerResponse, { status, headers, body }: ServiceResponse): boolean {
  if (res.headersSent || res.writableEnded || res.destroyed) return false
  const length = status === 204 ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  res.writeHead(status, {
    ...headers,
    ...length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(hasUnreadBody(req) && { Connection: 'close' }),
  })
  res.end(req.method === 'HEAD' ? undefined : body)
  return true
}
