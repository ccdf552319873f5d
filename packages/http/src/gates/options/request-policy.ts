import type { Duration, KeySource, PolicyInput, RequestHook } from '@sluice/limiter-core/http'
import type { CostSource } from './cost-source.ts'

/**
 * Returns the limit of a request: an integer from 0 to 999,999,999,999,999. 0 denies the request, and `Infinity` exempts
 * it. Requests of one key share one count, whatever their limits are.
 */
export type LimitHook<Req> = RequestHook<[req: Req], number>

/** Returns the window of a request. Requests with different windows are counted separately. */
export type WindowHook<Req> = RequestHook<[req: Req], Duration>

/** A policy of `rateLimit`, with an optional key and cost. */
export interface RequestPolicy<Req, Res> extends Omit<PolicyInput, 'limit' | 'window'> {
  /**
   * Units per window, an integer from 1 to 999,999,999,999,999, or a function that returns the limit of a request. If
   * the function throws, rejects or returns something else, the smallest limit that it has returned so far applies, or 1.
   */
  readonly limit: number | LimitHook<Req>
  /**
   * Length of the window, such as `'1m'`, or a function that returns the window of a request: at most 100 different
   * ones. If the function throws, rejects or returns something else, the longest window that it has returned so far
   * applies, or one minute. A function cannot be combined with `calendar`.
   */
  readonly window: Duration | WindowHook<Req>
  /** Names the key of a request. Default: the limiter's `key`. */
  readonly key?: KeySource<Req> | undefined
  /** Units that a request takes. Default: the limiter's `cost`. */
  readonly cost?: CostSource<Req, Res> | undefined
}
