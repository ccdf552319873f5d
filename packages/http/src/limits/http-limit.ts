import type { InflightLimiter, Limiter } from '@sluice/limiter-core'
import type { MaybePromise } from '@sluice/limiter-core/http'
import type { DeniedRequest } from '../denial/denied-request.ts'
import type { HttpExchange } from '../exchange.ts'
import type { Shedder } from '../overload/health/shedder.ts'
import type { LimiterReport } from '../report/limiter-report.ts'

/**
 * Outcome of a limit for one request: allowed (`passed`), allowed and holding a permit (`held`), finished or abandoned
 * by the client so that nothing remains to be done (`gone`), or denied. For `passed` and `held`, the limit has already
 * set its response headers.
 */
export type Admission<Req, Res> = 'passed' | 'held' | 'gone' | DeniedRequest<Req, Res>

/** A limit as adapters use it: a rate limit, a slow-down, a cap on concurrent requests or load shedding. */
export interface HttpLimit<Req, Res> {
  readonly holdUntil?: 'response' | 'handler' | undefined
  readonly report: LimiterReport
  /** Checks a request. Returns a promise only if a key, a cost or the backend does; never throws or rejects. */
  admit(exchange: HttpExchange<Req, Res>): MaybePromise<Admission<Req, Res>>
  close(): void
}

/** Members of a rate limit in every framework. */
export interface RateHandle {
  /** The underlying limiter (of the first plan), to peek, charge and reset outside of requests. */
  readonly limiter: Limiter
  /**
   * Resolves when no request whose cost is settled at its end is running, all costs have been settled, and the strikes
   * and bans of denied requests have been written. At shutdown, call it after the server has stopped accepting requests
   * and before you close the backend.
   */
  idle(): Promise<void>
  close(): void
}

/** Members of a cap in every framework. */
export interface InflightHandle {
  /** The underlying cap, to count held permits or to acquire permits outside of requests. */
  readonly limiter: InflightLimiter
  close(): void
}

/** Members of a slow-down in every framework. */
export interface SlowDownHandle {
  /**
   * The underlying limiter, to peek, charge and reset outside of requests. Its limit is `after` plus the number of
   * steps of the delay curve.
   */
  readonly limiter: Limiter
  /** Returns the number of requests that are being delayed. */
  waiting(): number
  /** Releases all delayed requests at once, and delays no further ones. */
  close(): void
}

/** Members of load shedding in every framework. */
export interface ShedHandle {
  /** The underlying shedder, to read its pressure or to shed work other than requests. */
  readonly shedder: Shedder
  /** Stops the timers. No request is refused from now on. */
  close(): void
}

export function isDeniedRequest<Req, Res>(admission: Admission<Req, Res>): admission is DeniedRequest<Req, Res> {
  return typeof admission === 'object'
}
