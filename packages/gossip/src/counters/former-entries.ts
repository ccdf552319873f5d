import type { CounterAmount } from './counter-amount.ts'
import type { OwnEntries } from './own-entries.ts'

type Count = (id: string, amount: CounterAmount) => void

/** Entries that this process counted under a former name, before other replicas declared that name gone. */
export class FormerEntries {
  readonly #entries: OwnEntries
  /** Amounts that were counted again under the new name. */
  #added: readonly (readonly [id: string, amount: CounterAmount])[] | undefined

  constructor(entries: OwnEntries) {
    this.#entries = entries
  }

  /** Counts the amounts after `clock` again: another replica took over the entries up to there. */
  recountAfter(clock: number, count: Count): void {
    if (this.#added) return
    this.#added = [...this.#entries.countedSince(clock)]
    for (const [id, amount] of this.#added) count(id, amount)
  }

  /** Reverts `settle`, because the take-over turned out to be void. */
  revertRecount(count: Count): void {
    for (const [id, amount] of this.#added ?? []) count(id, { ...amount, units: -amount.units, isDeleted: true })
    this.#added = undefined
  }
}
