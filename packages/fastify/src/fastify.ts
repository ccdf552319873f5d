import {
  type ClientExplanation,
  type DecoratedLimiters,
  type ExplainClientOptions,
  explainSource,
  type InflightLimitOptions,
  limitersFor,
  nodeSource,
  type RateLimitOptions,
  type RequestSluice,
  rejectUncalled,
  withDecorators,
} from '@sluice/node-http/adapter'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type FastifyHook, fastifyMount, PLUGIN_META } from './fastify-mount.ts'
import { FASTIFY_OPTIONS, type FastifyOptions, type FastifyRouteLimits } from './sluice-options.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The decisions of the request, and methods to change what it was charged. Set by the first limiter. */
    sluice?: RequestSluice | undefined
  }
  interface FastifyContextConfig {
    /** Limits of the route, read by the plugin `sluice`. */
    sluice?: FastifyRouteLimits | undefined
  }
}

export type FastifyRateLimitOptions = RateLimitOptions<FastifyRequest, FastifyReply> & FastifyOptions
export type FastifyInflightLimitOptions = InflightLimitOptions<FastifyRequest, FastifyReply> & FastifyOptions

type Args = readonly [request: FastifyRequest, reply: FastifyReply]
type FastifyLimiters = DecoratedLimiters<Args, FastifyRequest, FastifyReply, FastifyHook, FastifyOptions>

const limiters: FastifyLimiters = rejectUncalled(withDecorators(limitersFor(fastifyMount, FASTIFY_OPTIONS)), {
  method: 'app.addHook',
  properties: ['bind', PLUGIN_META],
})

/** Limits request rates, as a hook: `app.addHook('onRequest', rateLimit({ limit: 100, window: '1m' }))`. */
export const rateLimit: FastifyLimiters['rateLimit'] = limiters.rateLimit

/** Caps concurrent requests, as a hook: `app.addHook('onRequest', inflightLimit({ limit: 200 }))`. */
export const inflightLimit: FastifyLimiters['inflightLimit'] = limiters.inflightLimit

/** Delays frequent requests of a client: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: FastifyLimiters['slowDown'] = limiters.slowDown

/** Refuses requests while the process is overloaded, least important first: `shed({ priority })`. Mount it first. */
export const shed: FastifyLimiters['shed'] = limiters.shed

/** Creates limiter functions that share a backend, a clock and observers. */
export const createSluice: FastifyLimiters['createSluice'] = limiters.createSluice

/** Decorator that limits the request rate of a method: `@RateLimit({ limit: 100, window: '1m' })`. */
export const RateLimit: FastifyLimiters['RateLimit'] = limiters.RateLimit

/** Decorator that caps the concurrent requests of a method: `@InflightLimit({ limit: 4 })`. */
export const InflightLimit: FastifyLimiters['InflightLimit'] = limiters.InflightLimit

/**
 * Decorator that delays frequent requests of a client to a method:
 * `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`.
 */
export const SlowDown: FastifyLimiters['SlowDown'] = limiters.SlowDown

/** Decorator that refuses requests to a method while the process is overloaded: `@Shed({ priority })`. */
export const Shed: FastifyLimiters['Shed'] = limiters.Shed

/**
 * Explains which client address counts for a request, and why, in words. Pass the option `trust` of the limiter in
 * question, if it has one. Throws `SLUICE_BAD_OPTION`.
 */
export function explainClient(request: FastifyRequest, options?: ExplainClientOptions): ClientExplanation {
  return explainSource(nodeSource(request.raw, request.ip), options, 'trustProxy')
}
