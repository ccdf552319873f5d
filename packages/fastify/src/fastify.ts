import {
  type DecoratedLimiters,
  type InflightLimitOptions,
  limitersFor,
  type RateLimitOptions,
  type RequestSluice,
  withDecorators,
} from '@sluice/node-http/adapter'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type FastifyHook, fastifyMount } from './fastify-mount.ts'
import { FASTIFY_OPTIONS, type FastifyOptions, type FastifyRouteLimits } from './sluice-options.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What Sluice knows of the request; present behind a limiter. */
    sluice?: RequestSluice | undefined
  }
  interface FastifyContextConfig {
    /** What this route says of limits; read by the plugin `sluice`. */
    sluice?: FastifyRouteLimits | undefined
  }
}

export type FastifyRateLimitOptions = RateLimitOptions<FastifyRequest, FastifyReply> & FastifyOptions
export type FastifyInflightLimitOptions = InflightLimitOptions<FastifyRequest, FastifyReply> & FastifyOptions

type Args = readonly [request: FastifyRequest, reply: FastifyReply]
type FastifyLimiters = DecoratedLimiters<Args, FastifyRequest, FastifyReply, FastifyHook, FastifyOptions>

const limiters: FastifyLimiters = withDecorators(limitersFor(fastifyMount, FASTIFY_OPTIONS))

/** Limits rates: `app.addHook('onRequest', rateLimit({ limit: 100, window: '1m' }))`, or as a hook of a route. */
export const rateLimit: FastifyLimiters['rateLimit'] = limiters.rateLimit

/** Caps requests in progress: `app.addHook('onRequest', inflightLimit({ limit: 200 }))`, or as a hook of a route. */
export const inflightLimit: FastifyLimiters['inflightLimit'] = limiters.inflightLimit

/** Delays requests of who asks too often: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: FastifyLimiters['slowDown'] = limiters.slowDown

/** One place to inject backend, clock and observers from. */
export const createSluice: FastifyLimiters['createSluice'] = limiters.createSluice

/** Limits rates in front of a method: `@RateLimit({ limit: 100, window: '1m' })`. */
export const RateLimit: FastifyLimiters['RateLimit'] = limiters.RateLimit

/** Caps requests that a method has in progress: `@InflightLimit({ limit: 4 })`. */
export const InflightLimit: FastifyLimiters['InflightLimit'] = limiters.InflightLimit

/** Delays who asks a method too often: `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const SlowDown: FastifyLimiters['SlowDown'] = limiters.SlowDown
