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

/** The request of a decision. Members are computed when they are read. */
export interface ObservedRequest {
  /** Pattern of the matched route as the application declared it; undefined if it is not known. */
  readonly route: string | undefined
  readonly method: string
  /** The framework's own. */
  readonly request: unknown
  /** The request as its adapter presents it to key sources. */
  readonly view?: RequestView | undefined
}

/** The cap of a permit. */
export interface ObservedCap {
  readonly name: string
  /** Places for each key. */
  readonly limit: number
  /** The request that acquired the permit; undefined when the permit is released. */
  readonly request?: ObservedRequest | undefined
}

/** Watches, never changes an answer. One that throws is dropped and counted. */
export interface Observer {
  /**
   * Called for each decision. `key` is the key of the binding policy. `request` is undefined if the limiter was
   * called without a request.
   */
  decided?(key: string, decision: Decision, request?: ObservedRequest): void
  /**
   * Called when units were added or refunded by `charge`, `refund` or `settle`, once per policy, after the backend
   * has counted them. `units` is an integer, negative for a refund, never 0. Units that no backend counted are not
   * reported: the charge failed or a failure rule handled it. Units of a window that has passed are reported.
   */
  charged?(key: string, units: number, policy: Policy): void
  permitAcquired?(key: string, cap: ObservedCap): void
  permitReleased?(key: string, heldMs: number, cap: ObservedCap): void
  capDenied?(key: string, cap: ObservedCap): void
  /**
   * Called when a backend answered asynchronously, `tookMs` milliseconds after the call. Not called for synchronous
   * answers; failures are reported by `event`.
   */
  backendAnswered?(backend: string, tookMs: number): void
  /**
   * Returns the largest limit that the observer may ever set for a policy by `ObservedLimiter.control`, so that a log
   * reserves room for it. Called when a limiter is created. Default: none.
   */
  largestLimit?(policy: string): number | undefined
  /** A limiter was built that it watches, once for each plan. Layers of one application may have policies in common. */
  limiterOpened?(limiter: ObservedLimiter): void
  /** The same object again, when it is closed. */
  limiterClosed?(limiter: ObservedLimiter): void
  event?(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void
}
