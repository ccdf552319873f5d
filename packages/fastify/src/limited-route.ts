import { type HttpLimit, RequestLifecycle, type RouteConfig } from '@sluice/node-http/adapter'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { heldWork, runBehind } from './fastify-mount.ts'

/** Marks requests whose limits have been checked. */
export const ADMITTED: unique symbol = Symbol.for('sluice.fastify.admitted')
/** Constraints of a route, in its config. */
export const CONSTRAINTS: unique symbol = Symbol.for('sluice.fastify.constraints')
/** Marks the config of a route whose handler reports its end to caps. */
export const SIGNALS_END: unique symbol = Symbol.for('sluice.fastify.signalsEnd')
/** Marks the config of a route whose handler checks limits that no hook has checked. */
export const CHECKS_LIMITS: unique symbol = Symbol.for('sluice.fastify.checksLimits')

/** A request that knows whether its limits have been checked. */
export type MarkedRequest = FastifyRequest & { [ADMITTED]?: boolean }

/** Config of a route, with the marks of this plugin. */
export type Config = RouteConfig &
  FastifyContextConfig & {
    readonly [SIGNALS_END]?: true
    readonly [CHECKS_LIMITS]?: true
    readonly [CONSTRAINTS]?: string
  }

type LimitsOf = (app: FastifyInstance, request: FastifyRequest) => readonly HttpLimit<FastifyRequest, FastifyReply>[]

/** Wraps the handler of a route so that caps with `holdUntil: 'handler'` wait for it. */
export function reportEndToCaps(route: RouteOptions): void {
  const { handler } = route
  route.config = { ...route.config, [SIGNALS_END]: true } as FastifyContextConfig
  route.handler = function (request, reply) {
    const life = RequestLifecycle.of(request.raw, reply.raw)
    // the client has left and the permit has been released, possibly to another request: the handler must not run
    if (life.gone) return void reply.hijack()
    return heldWork(life, handler.call(this, request, reply), reply)
  }
}

/** Wraps the handler of a route so that limits are checked after all `preHandler` hooks, including later added ones. */
export function checkAfterHooks(route: RouteOptions, limitsOf: LimitsOf): void {
  const { handler } = route
  route.config = { ...route.config, [CHECKS_LIMITS]: true } as FastifyContextConfig
  route.handler = function (request: MarkedRequest, reply) {
    const work = (): unknown => handler.call(this, request, reply)
    if (request[ADMITTED]) return work()
    request[ADMITTED] = true
    return runBehind(limitsOf(this, request), request, reply, work)
  }
}
