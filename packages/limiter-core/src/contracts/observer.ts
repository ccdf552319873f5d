import type { Decision } from './decision.ts'
import type { ObservedLimiter } from './observed-limiter.ts'
import type { Policy } from './policy.ts'
import type { RequestView } from './request-view.ts'

export type ObserverEvent =
  | 'evicted'
  | 'tail'
  | 'keyFallback'
  | 'lateCharge'
  | 'hookFailed'
  | 'backendFailed'
  | 'breaker'
  | 'sync'
  | 'slowed'
  | 'saturated'
  | 'quota'

/** The request that was decided. What is not read is not worked out. */
export interface ObservedRequest {
  /** The pattern of the matched route as the application wrote it; undefined where none is known. */
  readonly route: string | undefined
  readonly method: string
  /** The framework's own. */
  readonly request: unknown
  /** As its adapter shows it, for key sources. */
  readonly view?: RequestView | undefined
}

/** The cap of a permit. */
export interface ObservedCap {
  readonly name: string
  /** Places for each key. */
  readonly limit: number
  /** Where a request asked for the permit; undefined where it comes back. */
  readonly request?: ObservedRequest | undefined
}

/** Watches, never changes an answer. One that throws is dropped and counted. */
export interface Observer {
  /** `key`: that of the binding policy. `request`: undefined for a limiter that was asked without one. */
  decided?(key: string, decision: Decision, request?: ObservedRequest): void
  /**
   * Units were added to what a key took under `policy`, or given back: whole units, negative for a refund, never 0. By
   * `charge`, `refund` and `settle`, once for each policy and after its backend counted them. Units that no backend counted
   * are not among them: where the charge failed, or a failure rule answered it. Those whose window has passed are.
   */
  charged?(key: string, units: number, policy: Policy): void
  permitAcquired?(key: string, cap: ObservedCap): void
  permitReleased?(key: string, heldMs: number, cap: ObservedCap): void
  capDenied?(key: string, cap: ObservedCap): void
  /** A backend answered later than at once, `tookMs` after it was asked. Those that answer at once tell nothing, and those that fail `event`. */
  backendAnswered?(backend: string, tookMs: number): void
  /**
   * The largest limit that it may ever give a policy of that name by `ObservedLimiter.control`: a log keeps room for it.
   * Asked when a limiter is built; default: none.
   */
  largestLimit?(policy: string): number | undefined
  /** A limiter was built that it watches, once for each plan. Layers of one application may have policies in common. */
  limiterOpened?(limiter: ObservedLimiter): void
  /** The same object again, when it is closed. */
  limiterClosed?(limiter: ObservedLimiter): void
  event?(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void
}
