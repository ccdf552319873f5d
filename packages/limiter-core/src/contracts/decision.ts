import type { PolicyVerdict } from './verdict.ts'

/** What all policies of one request answer together. */
export interface Decision {
  readonly allowed: boolean
  /**
   * One for each policy that was asked, in the order of the policies. Where policies count on several backends, those
   * of a later backend are not asked once an earlier one denied.
   */
  readonly verdicts: readonly PolicyVerdict[]
  /** A denied one, else the one nearest its end. A shadow policy binds only where every policy is one. */
  readonly binding: PolicyVerdict
  /** The largest of the denied ones; 0 when allowed. */
  readonly retryAfterMs: number
  /** The backend's reading of its clock; hand it back to `charge`, so that a refund finds its window. */
  readonly takenAt: number
  /** One reading for each verdict, where several backends answered together. */
  readonly takenAts?: readonly number[] | undefined
  /** False when the backend failed and the failure rule answered. */
  readonly counted: boolean
  /** `counted` of each verdict, where several backends answered together. */
  readonly countedEach?: readonly boolean[] | undefined
  /** Who answered: `memory`, `redis`, `local`, … */
  readonly source: string
}
