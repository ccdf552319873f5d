import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type Backend,
  type Clock,
  createLimiter,
  type InflightLimitOptions,
  type Limiter,
  type LimiterOptions,
  type Observer,
  optionsOf,
  type RateLimitOptions,
} from '@sluice/limiter-core'
import type { ConnectHost } from './connect-host.ts'
import { type InflightLimitMiddleware, inflightLimitFor } from './inflight-limit.ts'
import { type RateLimitMiddleware, rateLimitFor } from './rate-limit.ts'

/** What all limiters of an application share. */
export interface SluiceOptions {
  readonly backend?: Backend | undefined
  readonly clock?: Clock | undefined
  /** Told of everything, besides the observers of each limiter. */
  readonly observers?: readonly Observer[] | undefined
}

/** One place to inject from: limiters made here share a backend, a clock and observers, unless they say otherwise. */
export interface Sluice<Req, Res, Extra = unknown> {
  rateLimit(options: RateLimitOptions<Req, Res> & Extra): RateLimitMiddleware<Req, Res>
  inflightLimit(options: InflightLimitOptions<Req, Res> & Extra): InflightLimitMiddleware<Req, Res>
  limiter(options: LimiterOptions): Limiter
}

/** The `createSluice` of a framework. */
export function createSluiceFor<Req extends IncomingMessage, Res extends ServerResponse, Extra = unknown>(
  host: ConnectHost<Req, Res>,
): (options?: SluiceOptions) => Sluice<Req, Res, Extra> {
  return (shared = {}) => {
    const { backend, clock, observers = [] } = optionsOf('createSluice', shared, ['backend', 'clock', 'observers'])
    const watched = <T extends { observers?: readonly Observer[] | undefined }>(options: T): T => ({
      ...(clock && { clock }),
      ...options,
      observers: [...observers, ...(options.observers ?? [])],
    })
    const counted = <T extends LimiterOptions | RateLimitOptions<Req, Res>>(options: T): T =>
      watched({ ...(backend && { backend }), ...options })
    return {
      rateLimit: (options) => rateLimitFor(host)(counted(options)),
      inflightLimit: (options) => inflightLimitFor(host)(watched(options)),
      limiter: (options) => createLimiter(counted(options)),
    }
  }
}
