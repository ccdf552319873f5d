import type { PolicyInput } from '../policy/policy.ts'
import type { Duration } from '../time/duration.ts'
import type { SharedRateLimitOptions } from './rate-limit-options.ts'

/** Options of `slowDown`. */
export interface SlowDownOptions<Req = unknown, Res = unknown>
  extends Omit<SharedRateLimitOptions<Req, Res>, 'headers' | 'headersOn' | 'legacy' | 'partitionKey'>,
    Pick<PolicyInput, 'window' | 'algorithm' | 'slices' | 'unit'> {
  /** Name in denials and metrics. Default: `slow-down`. */
  readonly name?: string
  /** Whole units in a window that are not delayed; 0 delays from the first one on. */
  readonly after: number
  /**
   * The delay curve: the n-th unit over `after` waits n times this duration, at least 1 ms; or a function of n,
   * starting at 1, that returns milliseconds of 0 or more. A function is called when the limiter is created, up to
   * the first n that reaches `maxDelayMs`, or up to 10,000.
   */
  readonly delayMs: Duration | ((over: number) => number)
  /** The longest delay, at least 1 ms. */
  readonly maxDelayMs: Duration
  /** Requests that wait at once, of all clients together; one more is denied. Default: 1,000. */
  readonly maxWaiting?: number | undefined
}
