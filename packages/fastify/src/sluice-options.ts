import type { Backend, LayerOptions, SluiceOptions } from '@sluice/node-http/adapter'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** When limits are asked: `onRequest`, before a body is read, or `preHandler`, when hooks know who asks. */
export type FastifyPhase = 'onRequest' | 'preHandler'

/** What limiters of Fastify take besides what all take. */
export interface FastifyOptions {
  /** Hands denials to the error handler as errors with `statusCode`, `headers` and `code: 'SLUICE_DENIED'`. */
  readonly next?: boolean
}

/** Names of `FastifyOptions`. */
export const FASTIFY_OPTIONS: readonly string[] = ['next']

/** What a route says of limits, in `config: { sluice: … }`. The same name replaces, another adds, `false` removes. */
export interface FastifyRouteLimits extends LayerOptions<FastifyRequest, FastifyReply, FastifyOptions> {
  /** `onRequest` unless the application says otherwise. */
  readonly phase?: FastifyPhase | undefined
}

/** What an application says of limits, or a part of it. */
export interface FastifySluiceOptions extends FastifyRouteLimits, SluiceOptions<Backend> {}
