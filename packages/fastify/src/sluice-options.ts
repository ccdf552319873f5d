import type { Backend, LayerOptions, SluiceOptions } from '@sluice/node-http/adapter'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** When limits are checked: `onRequest`, before the body is read, or `preHandler`, after hooks have set the user. */
export type FastifyPhase = 'onRequest' | 'preHandler'

/** Additional options of Fastify limiters. */
export interface FastifyOptions {
  /**
   * Whether to pass denials to the error handler, as errors with `statusCode`, `headers` and `code: 'SLUICE_DENIED'`.
   * Default: false.
   */
  readonly next?: boolean | undefined
}

export const FASTIFY_OPTIONS: readonly string[] = ['next']

/**
 * Limits of a route, in `config: { sluice: … }`. A limit with the same name replaces the inherited one, another name
 * adds a limit, and `false` removes the inherited limits.
 */
export interface FastifyRouteLimits extends LayerOptions<FastifyRequest, FastifyReply, FastifyOptions> {
  /** Default: the phase of the application, which is `onRequest` unless set. */
  readonly phase?: FastifyPhase | undefined
}

/** Options of the plugin `sluice`, for an application or a child instance. */
export interface FastifySluiceOptions extends FastifyRouteLimits, SluiceOptions<Backend> {}
