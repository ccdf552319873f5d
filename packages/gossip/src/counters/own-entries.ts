import type { ReplicaLog } from '../log/replica-log.ts'
import { amountSince, type CounterAmount, mergedAmount, NO_AMOUNT } from './counter-amount.ts'

/** Amount that this replica had counted when it wrote an item. */
interface AmountVersion {
  readonly clock: number
  readonly amount: CounterAmount
}

interface OwnEntry {
  counted: CounterAmount
  /** Amounts taken over from replicas that are gone. */
  inherited: CounterAmount
  /** Written versions of `counted`, oldest first. Others may have any of them when they declare this replica gone. */
  versions: AmountVersion[]
}

/** Entries of this replica under one name: what it counted itself, and what it took over from others. */
export class OwnEntries {
  readonly log: ReplicaLog
  readonly #entries = new Map<string, OwnEntry>()
  readonly #unwritten = new Set<string>()
  /** Only the last version after this clock is kept: a replica that could declare this one gone has none of them. */
  #cutAt = Number.POSITIVE_INFINITY

  constructor(log: ReplicaLog) {
    this.log = log
  }

  get name(): string {
    return this.log.replica
  }

  amountOf(id: string): CounterAmount {
    const entry = this.#entries.get(id)
    return entry ? mergedAmount(entry.counted, entry.inherited) : NO_AMOUNT
  }

  /** Adds to what this replica counted itself. If the epochs differ, the later one replaces the other. */
  count(id: string, amount: CounterAmount): void {
    const entry = this.#entryOf(id)
    entry.counted = mergedAmount(entry.counted, amount)
  }

  inherit(id: string, amount: CounterAmount): void {
    const entry = this.#entryOf(id)
    entry.inherited = mergedAmount(entry.inherited, amount)
  }

  /** Writes each changed id as one item; `write` returns the clock of the item. */
  flush(write: (id: string, amount: CounterAmount) => number): void {
    for (const id of this.#unwritten) {
      const entry = this.#entryOf(id)
      const clock = write(id, mergedAmount(entry.counted, entry.inherited))
      const last = entry.versions.at(-1)
      if (last && last.clock > this.#cutAt) entry.versions.pop()
      entry.versions.push({ clock, amount: entry.counted })
    }
    this.#unwritten.clear()
  }

  /** Yields what this replica counted itself after `clock`: replicas that have its log up to `clock` lack it. */
  *countedSince(clock: number): Iterable<readonly [id: string, amount: CounterAmount]> {
    for (const [id, { counted, versions }] of this.#entries) {
      const known = versions.findLast((version) => version.clock <= clock)?.amount ?? NO_AMOUNT
      const amount = amountSince(known, counted)
      if (amount.units !== 0n || amount.epoch > known.epoch || amount.isDeleted !== known.isDeleted) yield [id, amount]
    }
  }

  /** Drops versions that are not needed once all other replicas have the log up to `clock`. */
  prune(clock: number): void {
    for (const entry of this.#entries.values()) {
      const first = entry.versions.findLastIndex((version) => version.clock <= clock)
      if (first > 0) entry.versions = entry.versions.slice(first)
    }
  }

  /**
   * Whether this replica is cut off: it reaches too few others, and the rest do not receive what it writes from now on.
   */
  set isCutOff(isCutOff: boolean) {
    if (!isCutOff) this.#cutAt = Number.POSITIVE_INFINITY
    else if (this.#cutAt === Number.POSITIVE_INFINITY) this.#cutAt = this.log.clock
  }

  forget(id: string): void {
    this.#entries.delete(id)
    this.#unwritten.delete(id)
  }

  #entryOf(id: string): OwnEntry {
    const entry = this.#entries.get(id) ?? { counted: NO_AMOUNT, inherited: NO_AMOUNT, versions: [] }
    this.#entries.set(id, entry)
    this.#unwritten.add(id)
    return entry
  }
}
