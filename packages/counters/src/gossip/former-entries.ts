import type { CounterAmount } from './counter-amount.ts'
import type { OwnEntries } from './own-entries.ts'

type Count = (id: string, amount: CounterAmount) => void

/** What a process counted under a name before it was taken for gone. */
export class FormerEntries {
  readonly #entries: OwnEntries
  /** What was counted again under the new name. */
  #added: readonly (readonly [id: string, amount: CounterAmount])[] | undefined

  constructor(entries: OwnEntries) {
    this.#entries = entries
  }

  /** Another replica has the entries up to `clock`: the rest is counted again. */
  settle(clock: number, count: Count): void {
    if (this.#added) return
    this.#added = [...this.#entries.countedSince(clock)]
    for (const [id, amount] of this.#added) count(id, amount)
  }

  /** It has not, after all. */
  unsettle(count: Count): void {
    for (const [id, amount] of this.#added ?? []) count(id, { ...amount, units: -amount.units, isDeleted: true })
    this.#added = undefined
  }
}
