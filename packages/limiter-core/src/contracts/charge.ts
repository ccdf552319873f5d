import type { CountedKey, Counter } from './counter.ts'
import type { PriorUsage } from './prior-usage.ts'

/** One key, asked for one policy. Its counter is one that the backend which is asked has opened. */
export interface Charge<C extends Counter = Counter> extends CountedKey<C> {
  /** Whole units, 0 or more. 0 asks and takes nothing. For `adjustAll`: whole units, negative for a refund. */
  readonly cost: number
  /** In shadow: counted as if it could deny, and never a veto. */
  readonly advisory?: boolean
  /**
   * What the caller knows of this key and the backend may not. A backend that lost what it counted, or never counted it,
   * first makes that good. `takeAll` and `adjustAll` look at it.
   */
  readonly known?: PriorUsage | undefined
}
