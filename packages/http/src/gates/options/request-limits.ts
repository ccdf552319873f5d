import {
  andThen,
  checkedUnits,
  DENY,
  EXEMPT,
  type MaybePromise,
  type OpenPolicy,
  type RequestView,
} from '@sluice/limiter-core/http'
import { type LimiterReport, reportUnlessPreflight } from '../../report/limiter-report.ts'
import { runHook } from './hook.ts'
import type { LimitHook } from './request-policy.ts'

/** The limit of a request, or the key result that takes its place. */
export type RequestLimit = number | typeof DENY | typeof EXEMPT

/** Each different limit and window has a counter of its own. Further limits are rounded down to one digit. */
const MOST_EXACT = 1_000

const SMALLEST = 'the smallest limit so far'

/** The limits that the function of a policy returns. */
export class RequestLimits<Req> {
  readonly #limitOf: LimitHook<Req>
  readonly #counters: OpenPolicy['counters']
  #opened = 0
  #smallest: number | undefined

  constructor(limitOf: LimitHook<Req>, counters: OpenPolicy['counters']) {
    this.#limitOf = limitOf
    this.#counters = counters
  }

  /** Returns the limit of a request, and opens its counter. `windowMs`: the window of the request. */
  of(view: RequestView<Req>, report: LimiterReport, windowMs?: number): MaybePromise<RequestLimit> {
    const limit = runHook<number, RequestLimit | typeof SMALLEST>(
      'limit',
      () => this.#limitOf(view.raw),
      (value) => this.#accepted(value, windowMs),
      SMALLEST,
      reportUnlessPreflight(view, report),
    )
    return andThen(limit, (one) => (one === SMALLEST ? this.#open(this.#smallest ?? 1, windowMs) : one))
  }

  #accepted(value: number, windowMs: number | undefined): RequestLimit {
    if (value === Number.POSITIVE_INFINITY) return EXEMPT
    if (value === 0) return DENY
    const limit = this.#open(checkedUnits(value, 'limit'), windowMs)
    this.#smallest = Math.min(limit, this.#smallest ?? limit)
    return limit
  }

  #open(limit: number, windowMs: number | undefined): number {
    if (this.#counters.of(limit, windowMs)) return limit
    const open = this.#opened < MOST_EXACT ? limit : roundedDown(limit)
    this.#counters.prepare(open, windowMs)
    this.#opened++
    return open
  }
}

function roundedDown(limit: number): number {
  const unit = 10 ** Math.floor(Math.log10(limit))
  return Math.floor(limit / unit) * unit
}
