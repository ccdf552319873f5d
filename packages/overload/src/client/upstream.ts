import type { MaybePromise, Priority } from '@sluice/limiter-core'
import type { Budget } from './announced/budget.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { ThrottledError } from './throttled-error.ts'

/** What a client learns from a response or an error of an upstream. */
export interface Reply {
  /**
   * `refused`: by a limit; `overloaded`: it failed, perhaps because of overload; `unknown` replies, such as those of
   * aborted requests, are not counted.
   */
  readonly kind: 'accepted' | 'refused' | 'overloaded' | 'unknown'
  /** Milliseconds for which the upstream asks to receive no requests. */
  readonly waitMs: number
  /** Whether a refusal shows a limit. Otherwise it may be an outage. */
  readonly isLimit?: boolean
  /** What the upstream announces of its limits. */
  readonly budgets?: readonly Budget[]
  /** False if the upstream asks not to send the request again. */
  readonly mayRetry?: boolean
}

/** Number of calls of an upstream since it was last forgotten, see the option `maxUpstreams`. */
export interface UpstreamStats {
  /** Calls that were sent, including those that were sent again. */
  readonly sent: number
  /** Calls that were sent again. */
  readonly retried: number
  /** Calls that were not sent, and rejected with the code `SLUICE_THROTTLED`. */
  readonly throttled: number
}

/** A call that may have to wait. */
export interface Caller {
  readonly signal?: AbortSignal | null | undefined
  /** Order in which calls that wait are sent. Upstreams whose calls do not wait ignore it. */
  readonly priority?: Priority | undefined
  /** When the call was made, by the clock of the upstream. Default: now. */
  readonly sinceMs?: number
}

/** Returns the time since a call was made, in ms. */
export function ageMs({ sinceMs }: Caller, now: number): number {
  return sinceMs === undefined ? 0 : now - sinceMs
}

/** One upstream and what a client has learned of it. `S`: what it remembers of a call that was sent. */
export interface Upstream<S> {
  readonly retries: RetryBudget
  readonly stats: { -readonly [Name in keyof UpstreamStats]: number }
  /** Decides about a call. Returns the error of its caller if it is not to be sent. `times`: how often it was sent. */
  admit(caller: Caller, times: number): MaybePromise<S | ThrottledError>
  /** Learns from the reply to a call that was sent. */
  learn(sent: S, reply: Reply): void
}
