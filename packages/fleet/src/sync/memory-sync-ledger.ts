import {
  type Clock,
  type CompiledPolicy,
  type CountedKey,
  countedUnits,
  lacksUsage,
  type PriorUsage,
  restoreUsage,
  storedNameOf,
} from '@sluice/limiter-core/backend'
import { PARTITIONS, partitionOf } from '../backend/partition-of.ts'
import { chargeLate } from './charge-late.ts'
import type { ReportedTakes, SyncAnswer, SyncBatch, SyncLedger } from './sync-ledger.ts'

/** Milliseconds that cells are kept after their end, as the Redis scripts do when a test passes the time. */
const KEPT_LONGER_MS = 600_000

interface Entry {
  readonly cells: Float64Array
  endsAt: number
  /** State of the key according to usage reported after a loss (`known`), and when the first such report arrived. */
  reported?: { readonly cells: Float64Array; readonly since: number }
}

/**
 * Ledger in the memory of one process, for simulations of a fleet. Returns exactly the results of the Redis script.
 */
export class MemorySyncLedger {
  readonly #clock: Pick<Clock, 'now'>
  readonly #entries = new Map<string, Entry>()
  readonly #numbers = new Map<string, number>()
  readonly #reportedAt = new Map<string, number>()
  #writers = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Returns the ledger as seen by one more process. */
  join(): SyncLedger {
    const writer = String(++this.#writers)
    return {
      partitions: PARTITIONS,
      partitionOf: (key) => partitionOf(key, PARTITIONS),
      exchange: async (batch) => this.exchange(writer, batch),
      resetAll: async (keys) => this.reset(keys),
      nodes: async () => this.nodes(writer),
    }
  }

  exchange(writer: string, { partition, number, takes, afterLoss = false }: SyncBatch): SyncAnswer {
    const name = `${writer} ${partition}`
    const last = this.#numbers.get(name) ?? 0
    const lost = number > last + 1 && !afterLoss
    const isNew = number > last && !lost
    if (isNew) this.#numbers.set(name, number)
    const cells = takes.map((reported) => this.#count(reported, isNew))
    return { cells, lost }
  }

  /** Simulates a server that restarts without its data. */
  loseData(): void {
    this.#entries.clear()
    this.#numbers.clear()
  }

  reset(keys: readonly CountedKey[]): void {
    for (const counted of keys) this.#entries.delete(nameOf(counted))
  }

  nodes(writer: string, withinMs = 10_000): number {
    const now = this.#clock.now()
    this.#reportedAt.set(writer, now)
    for (const [one, at] of this.#reportedAt) if (now - at > withinMs) this.#reportedAt.delete(one)
    return this.#reportedAt.size
  }

  /** Returns the used units of a key. */
  used(counted: CountedKey): number {
    const { compiled } = counted.counter
    const { cells } = this.#entry(counted, compiled)
    return compiled.capacity - compiled.remaining(cells, 0, this.#clock.now())
  }

  #count({ takes, known, ...counted }: ReportedTakes, isNew: boolean): number[] {
    const { compiled } = counted.counter
    const now = this.#clock.now()
    const entry = this.#entry(counted, compiled)
    const cells = entry.cells.slice()
    let isChanged = isNew && known !== undefined && this.#makeGood(entry, compiled, cells, known)
    for (let take = 0; isNew && take < takes.length; take += 2) {
      const moved = chargeLate(compiled, cells, 0, now, takes[take + 1], Math.min(now, takes[take]))
      // a report that changes no units is not written, not even the time; variants are written anyway, because the
      // units of another variant may have changed
      isChanged ||= moved !== 0 || compiled.variants !== undefined
    }
    if (isChanged) {
      const { keptMs = compiled.resetAfterMs } = compiled
      entry.cells.set(cells)
      entry.endsAt = now + keptMs.call(compiled, cells, 0, now) + KEPT_LONGER_MS
    }
    return [...cells]
  }

  /** Restores lost usage. The `known` usages of several processes overlap, so only the largest one is counted. */
  #makeGood(entry: Entry, compiled: CompiledPolicy, cells: Float64Array, known: PriorUsage): boolean {
    const now = this.#clock.now()
    if (known.ageMs === undefined) {
      const isChanged = lacksUsage(compiled, cells, 0, now, known)
      if (isChanged) restoreUsage(compiled, cells, 0, now, known)
      return isChanged
    }
    entry.reported ??= { cells: cells.slice(), since: now }
    const { reported } = entry
    // usage that the process learned after the loss was counted by this ledger
    if (now - known.ageMs > reported.since || !lacksUsage(compiled, reported.cells, 0, now, known)) return false
    const missing = known.used - countedUnits(compiled, reported.cells, 0, now)
    restoreUsage(compiled, reported.cells, 0, now, known)
    restoreUsage(compiled, cells, 0, now, { ...known, used: countedUnits(compiled, cells, 0, now) + missing })
    return true
  }

  #entry(counted: CountedKey, { cells }: CompiledPolicy): Entry {
    const name = nameOf(counted)
    let entry = this.#entries.get(name)
    if (!entry || entry.endsAt <= this.#clock.now()) {
      entry = { cells: new Float64Array(cells), endsAt: Number.POSITIVE_INFINITY }
      this.#entries.set(name, entry)
    }
    return entry
  }
}

function nameOf({ key, counter }: CountedKey): string {
  return `${storedNameOf(counter)}\0${key}`
}
