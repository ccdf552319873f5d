import type { AnswerOrigin } from './answer.ts'
import type { PolicyVerdict } from './verdict.ts'

/** The combined result of all policies of one request. */
export interface Decision extends AnswerOrigin {
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
}
