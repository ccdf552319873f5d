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

/** Each different limit has a counter of its own, on the same cells. Further limits are rounded down to one digit. */
const MOST_EXACT = 1_000

const SMALLEST = 'the smallest limit so far'

/** The limits that the function of a policy returns. */
export class RequestLimits<Req> {
  readonly #limitOf: LimitHook<Req>
  readonly #counters: OpenPolicy['counters']
  readonly #opened = new Set<number>()
  #smallest: number | undefined

  constructor(limitOf: LimitHook<Req>, counters: OpenPolicy['counters']) {
    this.#limitOf = limitOf
    this.#counters = counters
  }

  /** Returns the limit of a request, and opens its counter. */
  of(view: RequestView<Req>, report: LimiterReport): MaybePromise<RequestLimit> {
    const limit = runHook<number, RequestLimit | typeof SMALLEST>(
      'limit',
      () => this.#limitOf(view.raw),
      (value) => this.#accepted(value),
      SMALLEST,
      reportUnlessPreflight(view, report),
    )
    return andThen(limit, (one) => (one === SMALLEST ? this.#open(this.#smallest ?? 1) : one))
  }

  #accepted(value: number): RequestLimit {
    if (value === Number.POSITIVE_INFINITY) return EXEMPT
    if (value === 0) return DENY
    const limit = this.#open(checkedUnits(value, 'limit'))
    this.#smallest = Math.min(limit, this.#smallest ?? limit)
    return limit
  }

  #open(limit: number): number {
    if (this.#opened.has(limit)) return limit
    const open = this.#opened.size < MOST_EXACT ? limit : roundedDown(limit)
    this.#counters.prepare(open)
    this.#opened.add(open)
    return open
  }
}

function roundedDown(limit: number): number {
  const unit = 10 ** Math.floor(Math.log10(limit))
  return Math.floor(limit / unit) * unit
}
