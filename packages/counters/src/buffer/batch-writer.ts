import { type Clock, KEEP_ALIVE, type Observers } from '@sluice/limiter-core/backend'
import { BatchLoop } from '../ledger/batch-loop.ts'
import type { AppliedBatch, CounterTable, GroupOutcome, TokenGroup } from '../ledger/counter-ledger.ts'
import type { Owed } from '../metrics/owed-metrics.ts'
import { UnitAudit } from '../metrics/unit-audit.ts'
import { BatchQueue, batchOf, type OutgoingBatch } from './batch-queue.ts'
import type { CounterEntry } from './counter-entry.ts'
import type { EntryCache } from './entry-cache.ts'
import { PendingGroup } from './pending-group.ts'

export interface BatchWriterOptions {
  /** Name of the counters, for observers. */
  readonly name: string
  readonly table: CounterTable
  readonly cache: EntryCache
  readonly clock: Clock
  readonly observers: Observers
  /** Maximum delay of a unit before it is sent, in ms, while the ledger responds. */
  readonly flushMs: number
  /** Maximum number of ids in a batch; a single group may exceed it. */
  readonly maxBatch: number
  /** Whether the process stays alive until all units are sent. */
  readonly keepsAlive: boolean
}

/**
 * Sends the units of this process to the ledger in numbered batches, one at a time, each repeated until the ledger
 * replies. Units without a waiting caller are sent after `flushMs` or when they fill a batch; groups with a waiting
 * caller are sent at once.
 */
export class BatchWriter {
  readonly #options: BatchWriterOptions
  readonly #queue: BatchQueue
  readonly #loop: BatchLoop<OutgoingBatch>
  /** Covers units without a waiting caller, not groups. */
  readonly #audit = new UnitAudit()

  constructor(options: BatchWriterOptions) {
    this.#options = options
    this.#queue = new BatchQueue(options.maxBatch)
    this.#loop = new BatchLoop({
      ...options,
      next: () => this.#queue.take(),
      send: (batch) => this.#send(batch),
      isEmpty: () => this.#queue.size === 0 && !this.#queue.hasGroups,
      isUrgent: () => this.#queue.hasGroups || this.#queue.fillsBatch,
      lastTurn: () => this.#queue.lastTurn,
      // ignores entries that are being reset
      oldestTurn: () => this.#queue.oldestTurn,
    })
  }

  /** Number of ids with units that the ledger has not confirmed. */
  get waiting(): number {
    return this.#queue.size + (this.#loop.current?.entries.length ?? 0)
  }

  /** Units that the ledger does not have, for metrics. Takes time proportional to their number. */
  get owed(): Owed {
    const { entries = [], groups = [] } = this.#loop.current ?? {}
    const owing = [...new Set([...this.#queue.entries, ...entries])]
    const waited = [...this.#queue.groupEntries, ...groups.flatMap((group) => group.entries)]
    const now = this.#options.clock.now()
    const ageMs = owing.reduce((oldest, { owedSince }) => Math.max(oldest, now - owedSince), 0)
    const auditDifference = this.#audit.difference(owing.map((one) => one.owedUnits))
    return { ids: new Set([...owing, ...waited]).size, ageMs, auditDifference }
  }

  /** Counts units that no caller waits for. */
  add(entry: CounterEntry, delta: number): void {
    entry.add(delta, this.#options.clock.now())
    this.#audit.counted(delta)
    this.#queue.add(entry)
    this.#loop.schedule()
  }

  /**
   * Counts a group and resolves with its outcome. After `waitMs` it rejects with the error of `late`, which receives
   * whether the group may still be counted.
   */
  addGroup(
    group: TokenGroup,
    entries: readonly CounterEntry[],
    { waitMs, late }: { readonly waitMs: number; readonly late: (mayHaveCounted: boolean) => Error },
  ): Promise<GroupOutcome> {
    return new Promise((resolve, reject) => {
      const { clock } = this.#options
      const pending = new PendingGroup({ group, entries, turn: this.#queue.nextTurn() }, (outcome) => {
        cancel()
        resolve(outcome)
      })
      const abandon = (): void => {
        const isWithdrawn = this.#queue.withdraw(pending)
        if (!isWithdrawn) pending.abandonedAt = clock.now()
        reject(late(!isWithdrawn))
      }
      const cancel = clock.after(waitMs, abandon, KEEP_ALIVE)
      this.#queue.addGroup(pending)
      this.#loop.schedule()
    })
  }

  /**
   * Resolves when all units counted so far are applied. Rejects if an attempt fails; later attempts follow regardless.
   */
  flush(): Promise<void> {
    return this.#loop.flush()
  }

  /** Flushes with retries for at most `waitMs`, then stops. Rejects if units are left. */
  end(waitMs: number): Promise<void> {
    return this.#loop.end(waitMs)
  }

  /** Waits for the batch under way. Rejects if its attempt fails. */
  settled(): Promise<void> {
    return this.#loop.settled()
  }

  /** Discards the units of an entry that are not in a batch. */
  forget(entry: CounterEntry): void {
    this.#audit.settled(entry.discardUnits())
    this.#queue.remove(entry)
  }

  async #send(outgoing: OutgoingBatch): Promise<() => void> {
    const { table, clock } = this.#options
    // with the ages of this attempt
    const batch = batchOf(outgoing, this.#loop.writer, clock.now())
    const learned = learnedOf(outgoing)
    const applied = await table.apply(batch)
    return () => {
      for (const { amount } of batch.deltas) this.#audit.settled(amount)
      this.#settle(outgoing, applied, learned)
    }
  }

  #settle({ entries, groups }: OutgoingBatch, applied: AppliedBatch, learned: ReadonlyMap<string, number>): void {
    const { cache, clock } = this.#options
    const now = clock.now()
    for (const entry of entries) entry.sending = 0
    for (const row of applied.entries) cache.get(row.id)?.acceptTotal(row, now, learned.get(row.id))
    for (const [index, pending] of groups.entries()) pending.decide(applied.outcomes[index])
  }
}

/** Returns the `acceptedTotals` count of each entry in a batch. */
function learnedOf({ entries, groups }: OutgoingBatch): ReadonlyMap<string, number> {
  const all = [...entries, ...groups.flatMap((pending) => pending.entries)]
  return new Map(all.map(({ id, acceptedTotals }) => [id, acceptedTotals]))
}
