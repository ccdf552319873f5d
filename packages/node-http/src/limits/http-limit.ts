import type { InflightLimiter, Limiter } from '@sluice/limiter-core'
import type { LimiterReport, MaybePromise } from '@sluice/limiter-core/http'
import type { DeniedRequest } from '../denial/denied-request.ts'
import type { Exchange } from '../exchange/exchange.ts'

/**
 * What becomes of a request: it goes on, it goes on and holds a place, nobody is left to answer, or it is denied.
 * The first two have their headers written already.
 */
export type Admission<Req, Res> = 'passed' | 'held' | 'gone' | DeniedRequest<Req, Res>

/** A limit on requests, as adapters run it: of rates, of requests in progress, or of speed. */
export interface HttpLimit<Req, Res> {
  readonly holdUntil?: 'response' | 'handler' | undefined
  readonly report: LimiterReport
  /** Answers at once when keys, costs and backend do; never throws and never rejects. */
  admit(exchange: Exchange<Req, Res>): MaybePromise<Admission<Req, Res>>
  close(): void
}

/** What every limiter of rates has besides its framework's idiom. */
export interface RateHandle {
  /** The limiter behind it (of the first plan): to peek, charge and reset outside of requests. */
  readonly limiter: Limiter
  close(): void
}

/** What every cap has besides its framework's idiom. */
export interface InflightHandle {
  /** The cap behind it: to count what is held, or to hold places outside of requests. */
  readonly limiter: InflightLimiter
  close(): void
}

/** What every slow-down has besides its framework's idiom. */
export interface SlowHandle {
  /** What counts behind it: to peek, charge and reset outside of requests. Its limit is `after` and the whole curve. */
  readonly limiter: Limiter
  /** Requests that wait. */
  waiting(): number
  /** Lets all go on that wait; nobody is delayed from then on. */
  close(): void
}

export function isDeniedRequest<Req, Res>(admission: Admission<Req, Res>): admission is DeniedRequest<Req, Res> {
  return typeof admission === 'object'
}
