import type { CountedKey, Counter } from './counter.ts'
import type { PriorUsage } from './prior-usage.ts'

/** A charge to one key of one policy. Its counter was opened by the backend that is called. */
export interface Charge<C extends Counter = Counter> extends CountedKey<C> {
  /** Integer of 0 or more; 0 reads without taking. For `adjustAll`: an integer, negative for a refund. */
  readonly cost: number
  /** Whether the policy is in shadow mode: the charge is counted as if enforced, and never denies. */
  readonly advisory?: boolean
  /**
   * What the caller knows about this key and the backend may have lost. The backend restores it first. Used by
   * `takeAll` and `adjustAll`.
   */
  readonly known?: PriorUsage | undefined
}
