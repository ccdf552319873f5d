import type { PolicyVerdict } from './verdict.ts'

/** The combined result of all policies of one request. */
export interface Decision {
  readonly allowed: boolean
  /**
   * One verdict per policy that was checked, in the order of the policies. If policies count on several backends, a
   * later backend is not called once an earlier one has denied.
   */
  readonly verdicts: readonly PolicyVerdict[]
  /** A denied one, else the one nearest its end. A shadow policy binds only where every policy is one. */
  readonly binding: PolicyVerdict
  /** The largest of the denied ones; 0 when allowed. */
  readonly retryAfterMs: number
  /** Clock reading of the backend. Pass it to `charge`, so that a refund finds its window. */
  readonly takenAt: number
  /** One clock reading per verdict, if several backends answered together. */
  readonly takenAts?: readonly number[] | undefined
  /** False when the backend failed and the failure rule answered. */
  readonly counted: boolean
  /** `counted` of each verdict, where several backends answered together. */
  readonly countedEach?: readonly boolean[] | undefined
  /** The source of the decision: `memory`, `redis`, `local`, ... */
  readonly source: string
}
