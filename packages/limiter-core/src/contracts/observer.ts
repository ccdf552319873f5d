import type { CapHandle } from './cap-controls.ts'
import type { Decision } from './decisions/decision.ts'
import type { Policy } from './decisions/policy.ts'
import type { DenialReason } from './denial-reason.ts'
import type { ObservedLimiter } from './observed-limiter.ts'
import type { Priority } from './priority.ts'
import type { RequestView } from './request-view.ts'

/** Names of the events that are reported by `Observer.event`. */
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
  | 'shed'
  | 'saturated'
  | 'quota'
  | 'policies'
  | 'ban'

/** The request of a decision. Properties are computed when they are read. */
export interface ObservedRequest {
  /** Pattern of the matched route as the application declared it; undefined if it is not known. */
  readonly route: string | undefined
  readonly method: string
  /** Request object of the framework. */
  readonly request: unknown
  /** The same request as key sources receive it. */
  readonly view?: RequestView | undefined
}

/** The cap that a permit belongs to. */
export interface ObservedCap {
  readonly name: string
  /** Number of places per key. */
  readonly limit: number
  /** The request that acquired the permit; undefined when the permit is released. */
  readonly request?: ObservedRequest | undefined
  /** Priority of the request; undefined if it has none, and when the permit is released. */
  readonly priority?: Priority | undefined
  /** Why the permit was denied; undefined if it was not. */
  readonly reason?: DenialReason | undefined
}

/**
 * Receives events of limiters and caps, and never changes a decision. An observer that throws is removed, counted and
 * warned about (`SLUICE_OBSERVER_DROPPED`). An object without any of these methods is rejected (`SLUICE_BAD_OPTION`).
 */
export interface Observer {
  /** Called for each decision. `key`: the key of the binding policy. `request`: undefined if there was no request. */
  decided?(key: string, decision: Decision, request?: ObservedRequest): void
  /**
   * Called once per policy after the backend has counted units that `charge`, `refund` or `settle` added. `units` is an
   * integer other than 0, negative for a refund. Called even if the window of the take has passed; not called if the
   * charge failed or the failure rule handled it.
   */
  charged?(key: string, units: number, policy: Policy): void
  /** Called when a cap has given a permit. */
  permitAcquired?(key: string, cap: ObservedCap): void
  /** Called when a permit is released or revoked, `heldMs` milliseconds after it was acquired. */
  permitReleased?(key: string, heldMs: number, cap: ObservedCap): void
  /** Called when a cap has denied a permit. */
  capDenied?(key: string, cap: ObservedCap): void
  /** Called instead of `capDenied` if the signal of an acquire was aborted first, because the client has left. */
  capLeft?(key: string, cap: ObservedCap): void
  /**
   * Called when a backend answered asynchronously, `tookMs` milliseconds after the call. Not called for synchronous
   * answers; failures are reported by `event`.
   */
  backendAnswered?(backend: string, tookMs: number): void
  /**
   * Returns the largest limit that the observer may ever set for a policy by `ObservedLimiter.control`, so that a log
   * reserves room for it. Called when a limiter is created. Default: no larger limit.
   */
  largestLimit?(policy: string): number | undefined
  /** Called when a limiter is created, once per plan. Layers of an application may have policies in common. */
  limiterOpened?(limiter: ObservedLimiter): void
  /** Called when a limiter is closed, with the object that `limiterOpened` received. */
  limiterClosed?(limiter: ObservedLimiter): void
  /** Called when a cap is created. */
  capOpened?(cap: CapHandle): void
  /** Called when a cap is closed, with the object that `capOpened` received. */
  capClosed?(cap: CapHandle): void
  /** Called for all other events; `data` depends on the event. */
  event?(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void
}
