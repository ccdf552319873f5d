import type { GroupOutcome, TokenGroup } from '../ledger/counter-ledger.ts'
import type { CounterEntry } from './counter-entry.ts'

export interface PendingGroupOptions {
  readonly group: TokenGroup
  readonly entries: readonly CounterEntry[]
  /** Position in the queue. */
  readonly turn: number
}

/** A group without an outcome yet. Until it is decided, its entries reserve room for its deltas. */
export class PendingGroup {
  readonly entries: readonly CounterEntry[]
  readonly turn: number
  /** When the call timed out although the group may still be counted. A reset after this time drops the group. */
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

  /** Returns the group as sent at clock time `now`. */
  sentAt(now: number): TokenGroup {
    if (this.abandonedAt === undefined) return this.#group
    return { ...this.#group, ageMs: now - this.abandonedAt }
  }

  decide(outcome: GroupOutcome): void {
    this.release()
    this.#decided(outcome)
  }

  /** Releases the reserved room. */
  release(): void {
    for (const entry of this.entries) entry.release(this.#amountOf(entry))
  }

  #amountOf({ id }: CounterEntry): number {
    return this.#group.amounts.get(id) ?? 0
  }
}
