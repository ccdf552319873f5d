import type { Priority } from '@sluice/limiter-core'
import { PRIORITIES } from '../../priorities.ts'
import { CountRing } from './count-ring.ts'
import { NOW_SECONDS } from './fleet-policy.ts'

/** Events by priority over the last 10 s. */
export class PriorityRates {
  readonly #rings = PRIORITIES.map(() => new CountRing(NOW_SECONDS + 1, 1_000))

  /** Adds amounts in the order of `PRIORITIES`. */
  add(amounts: readonly number[], at: number): void {
    amounts.forEach((amount, index) => {
      if (amount > 0) this.#rings[index].add(amount, at)
    })
  }

  /** Returns the rate of a priority. `seconds` is the length of the period. */
  perSecond(priority: Priority, at: number, seconds: number): number {
    return this.#rings[PRIORITIES.indexOf(priority)].sum(NOW_SECONDS, at) / seconds
  }
}
