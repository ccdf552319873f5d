import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type Answer,
  type Backend,
  type Clock,
  createLimiter,
  type Decision,
  type InflightLimitOptions,
  type Limiter,
  type LimiterOptions,
  type Observer,
  Observers,
  optionsOf,
  type RateLimitOptions,
} from '@sluice/limiter-core'
import type { ConnectHost } from './connect-host.ts'
import { type InflightLimitMiddleware, inflightLimitFor } from './inflight-limit.ts'
import { type RateLimitMiddleware, rateLimitFor } from './rate-limit.ts'

/** What all limiters of an application share. */
export interface SluiceOptions<B extends Backend = Backend<Answer>> {
  readonly backend?: B | undefined
  readonly clock?: Clock | undefined
  /** Told of everything, besides the observers of each limiter. */
  readonly observers?: readonly Observer[] | undefined
}

/** One place to inject from: limiters made here share a backend, a clock and observers, unless they say otherwise. */
export interface Sluice<Req, Res, Extra = unknown, B extends Backend = Backend<Answer>> {
  rateLimit(options: RateLimitOptions<Req, Res> & Extra): RateLimitMiddleware<Req, Res>
  inflightLimit(options: InflightLimitOptions<Req, Res> & Extra): InflightLimitMiddleware<Req, Res>
  /** Answers at once where the shared backend does. */
  limiter(options: LimiterOptions): B extends Backend<Answer> ? Limiter<Decision> : Limiter
}

/** The `createSluice` of a framework. */
export type CreateSluice<Req, Res, Extra = unknown> = <B extends Backend = Backend<Answer>>(
  options?: SluiceOptions<B>,
) => Sluice<Req, Res, Extra, B>

/** Makes the `createSluice` of a framework. */
export function createSluiceFor<Req extends IncomingMessage, Res extends ServerResponse, Extra = unknown>(
  host: ConnectHost<Req>,
): CreateSluice<Req, Res, Extra> {
  return <B extends Backend>(shared: SluiceOptions<B> = {}) => {
    const { backend, clock, observers = [] } = optionsOf('createSluice', shared, ['backend', 'clock', 'observers'])
    // throws for what is no list of observers
    new Observers(observers)
    const watched = <T extends { observers?: readonly Observer[] | undefined }>(options: T): T => ({
      ...(clock && { clock }),
      ...options,
      observers: [...observers, ...(options.observers ?? [])],
    })
    const counted = <T extends LimiterOptions | RateLimitOptions<Req, Res>>(options: T): T =>
      watched({ ...(backend && { backend }), ...options })
    const made: Sluice<Req, Res, Extra, B> = {
      rateLimit: (options) => rateLimitFor<Req, Res>(host)(counted(options)),
      inflightLimit: (options) => inflightLimitFor<Req, Res>(host)(watched(options)),
      limiter: (options) => createLimiter(counted(options)) as ReturnType<Sluice<Req, Res, Extra, B>['limiter']>,
    }
    return made
  }
}
