import type { CountedKey, Counter } from './counter.ts'
import type { HoldChange } from './decisions/hold.ts'
import type { PriorUsage } from './prior-usage.ts'

/** Units to take from one key of one policy. The counter was opened by the backend that receives the charge. */
export interface Charge<C extends Counter = Counter> extends CountedKey<C> {
  /** Units, an integer of 0 or more; 0 reads without taking. In `adjustAll` negative units are a refund. */
  readonly cost: number
  /** Whether the policy is in shadow mode: the charge is counted as if enforced, but never denies. Default: false. */
  readonly advisory?: boolean
  /** Usage of the key that the backend may have lost. `takeAll` and `adjustAll` restore it before they count. */
  readonly known?: PriorUsage | undefined
  /**
   * Makes a take hold the cost instead of spending it, and an adjustment settle held units: it releases them and spends
   * the cost, without a check. Only for policies with `CompiledPolicy.holds`. Default: an ordinary charge.
   */
  readonly hold?: HoldChange | undefined
}
