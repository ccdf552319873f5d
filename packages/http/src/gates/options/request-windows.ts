import {
  andThen,
  type Duration,
  type MaybePromise,
  type OpenPolicy,
  parseDuration,
  type RequestView,
  SluiceError,
} from '@sluice/limiter-core/http'
import { type LimiterReport, reportUnlessPreflight } from '../../report/limiter-report.ts'
import { runHook } from './hook.ts'
import type { WindowHook } from './request-policy.ts'

/** Window until a request has one. */
export const UNKNOWN_WINDOW_MS = 60_000

const MOST_WINDOWS = 100

const LONGEST = 'the longest window so far'

/** The windows that the function of a policy returns. Each window has a count of its own. */
export class RequestWindows<Req> {
  readonly #windowOf: WindowHook<Req>
  readonly #counters: OpenPolicy['counters']
  readonly #hasLimits: boolean
  readonly #known = new Set<number>()
  #longest: number | undefined

  /** `hasLimits`: whether requests also have limits. */
  constructor(windowOf: WindowHook<Req>, counters: OpenPolicy['counters'], hasLimits: boolean) {
    this.#windowOf = windowOf
    this.#counters = counters
    this.#hasLimits = hasLimits
  }

  /** Returns the window of a request in milliseconds, and opens its counter. */
  of(view: RequestView<Req>, report: LimiterReport): MaybePromise<number> {
    const window = runHook<Duration, number | typeof LONGEST>(
      'window',
      () => this.#windowOf(view.raw),
      (value) => this.#accepted(parseDuration(value, 'window')),
      LONGEST,
      reportUnlessPreflight(view, report),
    )
    return andThen(window, (one) => (one === LONGEST ? (this.#longest ?? UNKNOWN_WINDOW_MS) : one))
  }

  #accepted(windowMs: number): number {
    if (this.#known.has(windowMs)) return windowMs
    if (this.#known.size >= MOST_WINDOWS) {
      const message = `window: expected at most ${MOST_WINDOWS} different windows, received another one`
      throw new SluiceError('SLUICE_BAD_DURATION', message)
    }
    // if requests have limits, that of the policy applies to none, and may be too large for the window
    const limit = this.#hasLimits ? 1 : this.#counters.own.compiled.policy.limit
    this.#counters.prepare(limit, windowMs)
    this.#known.add(windowMs)
    this.#longest = Math.max(windowMs, this.#longest ?? windowMs)
    return windowMs
  }
}
