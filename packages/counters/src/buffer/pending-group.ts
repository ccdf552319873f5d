import type { GroupOutcome, TokenGroup } from '../ledger/counter-ledger.ts'
import type { CounterEntry } from './counter-entry.ts'

export interface PendingGroupOptions {
  readonly group: TokenGroup
  readonly entries: readonly CounterEntry[]
  /** Its place among all that waits. */
  readonly turn: number
}

/** A group that is not decided yet. Until it is, room is left in its entries for what it may count. */
export class PendingGroup {
  readonly entries: readonly CounterEntry[]
  readonly turn: number
  /** When its caller was told that it may count all the same: a reset since then takes it away. */
  abandonedAt: number | undefined
  readonly #group: TokenGroup
  readonly #decided: (outcome: GroupOutcome) => void

  constructor({ group, entries, turn }: PendingGroupOptions, decided: (outcome: GroupOutcome) => void) {
    this.#group = group
    this.entries = entries
    this.turn = turn
    this.#decided = decided
    for (const entry of entries) entry.reserve(this.#amountOf(entry))
  }

  get token(): string | undefined {
    return this.#group.token?.token
  }

  /** As it goes out at `now`. */
  sentAt(now: number): TokenGroup {
    if (this.abandonedAt === undefined) return this.#group
    return { ...this.#group, ageMs: now - this.abandonedAt }
  }

  decide(outcome: GroupOutcome): void {
    this.release()
    this.#decided(outcome)
  }

  /** It counts nothing. */
  release(): void {
    for (const entry of this.entries) entry.release(this.#amountOf(entry))
  }

  #amountOf({ id }: CounterEntry): number {
    return this.#group.amounts.get(id) ?? 0
  }
}
