import { amountSince, type CounterAmount, mergedAmount, NO_AMOUNT } from './counter-amount.ts'
import type { ReplicaLog } from './replica-log.ts'

/** What this replica had counted when it wrote an item. */
interface AmountVersion {
  readonly clock: number
  readonly amount: CounterAmount
}

interface OwnEntry {
  counted: CounterAmount
  /** Of replicas that are gone. */
  inherited: CounterAmount
  /** Of `counted`, the oldest first: what others may have when they take this replica for gone. */
  versions: AmountVersion[]
}

/** The entries of this replica under one name: what it counted itself, and what it took over from others. */
export class OwnEntries {
  readonly log: ReplicaLog
  readonly #entries = new Map<string, OwnEntry>()
  readonly #unwritten = new Set<string>()
  /** Of versions above it only the last one is kept: whoever may ever take this replica for gone has none of them. */
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

  /** Adds to what it counted itself; of another epoch, the later one stands. */
  count(id: string, amount: CounterAmount): void {
    const entry = this.#entryOf(id)
    entry.counted = mergedAmount(entry.counted, amount)
  }

  inherit(id: string, amount: CounterAmount): void {
    const entry = this.#entryOf(id)
    entry.inherited = mergedAmount(entry.inherited, amount)
  }

  /** Writes what is not written yet, each id as one item; `write` answers its clock. */
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

  /** What it counted itself and those do not have who know its log as far as `clock`. */
  *countedSince(clock: number): Iterable<readonly [id: string, amount: CounterAmount]> {
    for (const [id, { counted, versions }] of this.#entries) {
      const known = versions.findLast((version) => version.clock <= clock)?.amount ?? NO_AMOUNT
      const amount = amountSince(known, counted)
      if (amount.units !== 0n || amount.epoch > known.epoch || amount.isDeleted !== known.isDeleted) yield [id, amount]
    }
  }

  /** All others know the log as far as `clock`, or farther. */
  prune(clock: number): void {
    for (const entry of this.#entries.values()) {
      const first = entry.versions.findLastIndex((version) => version.clock <= clock)
      if (first > 0) entry.versions = entry.versions.slice(first)
    }
  }

  /** Whether this replica sees too few others: what it writes from now on those do not get that it does not see. */
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
