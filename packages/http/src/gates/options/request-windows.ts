import {
  andThen,
  type Duration,
  type MaybePromise,
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

/** A policy that was opened with one of the windows. */
interface Opened {
  readonly policy: { readonly windowMs: number }
  readonly close: () => void
}

/** The windows that the function of a policy returns. The policy is opened once for each of them. */
export class RequestWindows<Req, Policy extends Opened> {
  readonly #windowOf: WindowHook<Req>
  readonly #open: (windowMs: number) => Policy
  readonly #opened = new Map<number, Policy>()
  #longest: Policy | undefined

  constructor(windowOf: WindowHook<Req>, open: (windowMs: number) => Policy) {
    this.#windowOf = windowOf
    this.#open = open
  }

  /** Returns the policy with the window of a request. */
  of(view: RequestView<Req>, report: LimiterReport): MaybePromise<Policy> {
    const policy = runHook<Duration, Policy | typeof LONGEST>(
      'window',
      () => this.#windowOf(view.raw),
      (window) => this.#accepted(parseDuration(window, 'window')),
      LONGEST,
      reportUnlessPreflight(view, report),
    )
    return andThen(policy, (one) => (one === LONGEST ? (this.#longest ?? this.#with(UNKNOWN_WINDOW_MS)) : one))
  }

  close(): void {
    for (const { close } of this.#opened.values()) close()
  }

  #accepted(windowMs: number): Policy {
    if (this.#opened.size >= MOST_WINDOWS && !this.#opened.has(windowMs)) {
      const message = `window: expected at most ${MOST_WINDOWS} different windows, received another one`
      throw new SluiceError('SLUICE_BAD_DURATION', message)
    }
    const policy = this.#with(windowMs)
    if (!this.#longest || windowMs > this.#longest.policy.windowMs) this.#longest = policy
    return policy
  }

  #with(windowMs: number): Policy {
    const policy = this.#opened.get(windowMs) ?? this.#open(windowMs)
    this.#opened.set(windowMs, policy)
    return policy
  }
}
