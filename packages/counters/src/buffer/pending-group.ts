import type { GroupOutcome, TokenGroup } from '../ledger/counter-ledger.ts'
import type { CounterEntry } from './counter-entry.ts'

/** A group that is not decided yet. Until it is, room is left in its entries for what it may count. */
export class PendingGroup {
  readonly group: TokenGroup
  readonly entries: readonly CounterEntry[]
  readonly #decided: (outcome: GroupOutcome) => void

  constructor(group: TokenGroup, entries: readonly CounterEntry[], decided: (outcome: GroupOutcome) => void) {
    this.group = group
    this.entries = entries
    this.#decided = decided
    this.#reserve(1)
  }

  decide(outcome: GroupOutcome): void {
    this.release()
    this.#decided(outcome)
  }

  /** It counts nothing. */
  release(): void {
    this.#reserve(-1)
  }

  #reserve(sign: 1 | -1): void {
    for (const entry of this.entries) entry.undecided += sign * (this.group.amounts.get(entry.id) ?? 0)
  }
}
