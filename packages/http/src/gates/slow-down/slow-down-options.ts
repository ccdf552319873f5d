import type { Duration, PolicyInput } from '@sluice/limiter-core/http'
import type { SharedRateLimitOptions } from '../options/rate-limit-options.ts'

/** Options of `slowDown`. */
export interface SlowDownOptions<Req = unknown, Res = unknown>
  extends Omit<SharedRateLimitOptions<Req, Res>, 'headers' | 'headersOn' | 'legacy' | 'partitionKey'>,
    Pick<PolicyInput, 'window' | 'algorithm' | 'slices' | 'unit'> {
  /** Name in denials and metrics. Default: `slow-down`. */
  readonly name?: string | undefined
  /** Number of units per window that are not delayed, an integer. 0 delays every request. */
  readonly after: number
  /**
   * Delay of the n-th unit over `after`: n times this duration (at least 1 ms), or a function of n (starting at 1) that
   * returns milliseconds of at least 0. The function is called only when the limiter is created, up to the first n
   * whose delay reaches `maxDelayMs`, and at most 10,000 times.
   */
  readonly delayMs: Duration | ((over: number) => number)
  /** Maximum delay of a request, at least 1 ms. */
  readonly maxDelayMs: Duration
  /** Maximum number of requests of all clients that wait at the same time. Further ones are denied. Default: 1,000. */
  readonly maxWaiting?: number | undefined
}
