import type { PolicyVerdict } from './verdict.ts'

/** The combined result of all policies of one request. */
export interface Decision {
  /** Whether every enforced policy allows the request. */
  readonly allowed: boolean
  /**
   * Verdicts of the policies that were checked, in the order of the policies. If policies count on several backends,
   * backends after a denial are not called and their policies have no verdict.
   */
  readonly verdicts: readonly PolicyVerdict[]
  /**
   * The verdict to report to the client: the denied verdict with the longest wait or, if the request is allowed, the
   * verdict with the smallest part of its limit left. A verdict in shadow mode is chosen only if all policies are in
   * shadow mode.
   */
  readonly binding: PolicyVerdict
  /** Longest `retryAfterMs` of the denied verdicts; 0 if allowed. */
  readonly retryAfterMs: number
  /** Clock reading of the backend. Pass it to `charge`, so that a refund applies to the window of the take. */
  readonly takenAt: number
  /** `takenAt` of each verdict. Present only if several backends, whose clocks may differ, answered together. */
  readonly takenAts?: readonly number[] | undefined
  /** Whether the backend counted the request. False if it failed and the failure rule decided. */
  readonly counted: boolean
  /** `counted` of each verdict. Present only if several backends answered together. */
  readonly countedEach?: readonly boolean[] | undefined
  /** Name of the backend or failure rule that decided: `memory`, `redis`, `local`, ... Several are joined by `+`. */
  readonly source: string
}
