import { type HttpLimit, RequestLifecycle, type RouteConfig } from '@sluice/node-http/adapter'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { heldWork, runBehind } from './fastify-mount.ts'

export const ADMITTED: unique symbol = Symbol.for('sluice.fastify.admitted')
export const CONSTRAINTS: unique symbol = Symbol.for('sluice.fastify.constraints')
/** A handler that signals its end to caps. */
export const SIGNALS_END: unique symbol = Symbol.for('sluice.fastify.tells')
/** A handler that checks the limits which no hook has checked. */
export const CHECKS_LIMITS: unique symbol = Symbol.for('sluice.fastify.asks')

/** A request, and whether its limits were checked. */
export type Met = FastifyRequest & { [ADMITTED]?: boolean }

/** What a route was declared with, and what its handler does. */
export type Config = RouteConfig &
  FastifyContextConfig & {
    readonly [SIGNALS_END]?: true
    readonly [CHECKS_LIMITS]?: true
    readonly [CONSTRAINTS]?: string
  }

type LimitsOf = (app: FastifyInstance, request: FastifyRequest) => readonly HttpLimit<FastifyRequest, FastifyReply>[]

/** Makes the handler of a route signal its end, for caps that wait for that. */
export function signalsEnd(route: RouteOptions): void {
  const { handler } = route
  route.config = { ...route.config, [SIGNALS_END]: true } as FastifyContextConfig
  route.handler = function (request, reply) {
    const life = RequestLifecycle.of(request.raw, reply.raw)
    // the place came back when the client left: another request may be in it by now
    if (life.gone) return void reply.hijack()
    return heldWork(life, handler.call(this, request, reply), reply)
  }
}

/** Makes the handler of a route check the limits first: a hook of ours would run before those that are added after it. */
export function checksAfterHooks(route: RouteOptions, limitsOf: LimitsOf): void {
  const { handler } = route
  route.config = { ...route.config, [CHECKS_LIMITS]: true } as FastifyContextConfig
  route.handler = function (request: Met, reply) {
    const work = (): unknown => handler.call(this, request, reply)
    if (request[ADMITTED]) return work()
    request[ADMITTED] = true
    return runBehind(limitsOf(this, request), request, reply, work)
  }
}
