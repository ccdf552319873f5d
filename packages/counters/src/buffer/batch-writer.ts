import { randomBytes } from 'node:crypto'
import { AWAITED, type Clock, messageOf, type Observers } from '@sluice/limiter-core/backend'
import type { AppliedBatch, CounterTable, GroupOutcome, TokenGroup } from '../ledger/counter-ledger.ts'
import { SendLoop } from '../ledger/send-loop.ts'
import type { Owed } from '../metrics/owed-metrics.ts'
import { UnitAudit } from '../metrics/unit-audit.ts'
import { BatchQueue, batchOf, type Shipment } from './batch-queue.ts'
import type { CounterEntry } from './counter-entry.ts'
import type { EntryCache } from './entry-cache.ts'
import { PendingGroup } from './pending-group.ts'

export interface BatchWriterOptions {
  /** Of the counters, for observers. */
  readonly name: string
  readonly table: CounterTable
  readonly cache: EntryCache
  readonly clock: Clock
  readonly observers: Observers
  /** How long a unit waits for a batch at most, in ms, while the ledger answers. */
  readonly flushMs: number
  /** Most ids of a batch, unless one group has more. */
  readonly maxBatch: number
  /** Whether the process must not end before a unit that waits is sent. */
  readonly keepsAlive: boolean
}

/**
 * Sends what a process counted to the ledger: numbered batches, one at a time, each until it is answered. What nobody
 * waits for goes out after `flushMs`, or as soon as it fills a batch; what somebody waits for at once.
 */
export class BatchWriter {
  readonly #options: BatchWriterOptions
  /** Of this start of this process. */
  readonly #writer: string = randomBytes(15).toString('base64url')
  readonly #queue: BatchQueue
  /** Not answered yet. */
  #shipment: Shipment | undefined
  readonly #loop: SendLoop
  /** Of units that nobody waits for. */
  readonly #audit = new UnitAudit()

  constructor(options: BatchWriterOptions) {
    this.#options = options
    this.#queue = new BatchQueue(options.maxBatch)
    this.#loop = new SendLoop({
      ...options,
      attempt: () => this.#try(),
      isEmpty: () => this.#queue.size === 0 && !this.#queue.hasGroups && !this.#shipment,
      isUrgent: () => this.#queue.hasGroups || this.#queue.fillsBatch,
    })
  }

  /** Ids that wait for an answer. */
  get waiting(): number {
    return this.#queue.size + (this.#shipment?.entries.length ?? 0)
  }

  /** Reads all that waits: for metrics. */
  get owed(): Owed {
    const { entries = [], groups = [] } = this.#shipment ?? {}
    const owing = [...new Set([...this.#queue.entries, ...entries])]
    const waited = [...this.#queue.groupEntries, ...groups.flatMap((group) => group.entries)]
    const now = this.#options.clock.now()
    const ageMs = owing.reduce((oldest, { owedSince }) => Math.max(oldest, now - owedSince), 0)
    const auditDifference = this.#audit.difference(owing.map((one) => one.owedUnits))
    return { ids: new Set([...owing, ...waited]).size, ageMs, auditDifference }
  }

  /** Counts units that nobody waits for. */
  add(entry: CounterEntry, delta: number): void {
    entry.add(delta, this.#options.clock.now())
    this.#audit.counted(delta)
    this.#queue.add(entry)
    this.#loop.schedule()
  }

  /** Resolves when it is decided. After `waitMs` it rejects with what `late` makes of whether it may count all the same. */
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
      const cancel = clock.after(waitMs, abandon, AWAITED)
      this.#queue.addGroup(pending)
      this.#loop.schedule()
    })
  }

  /** Resolves when all that was counted so far is applied; rejects where an attempt fails, and goes on trying. */
  async flush(): Promise<void> {
    const last = this.#queue.lastTurn
    while (this.#oldestTurn <= last) await this.#loop.send()
  }

  /** Flushes, again and again until `waitMs` are over, and ends. Rejects where something is left by then. */
  end(waitMs: number): Promise<void> {
    return this.#loop.end(() => this.flush(), waitMs)
  }

  /** Waits for the batch that is under way. Rejects as it does. */
  async settled(): Promise<void> {
    const number = this.#shipment?.number
    while (number !== undefined && this.#shipment?.number === number) await this.#loop.send()
  }

  /** Forgets units of an entry that are in no batch. */
  forget(entry: CounterEntry): void {
    this.#audit.settled(entry.forget())
    this.#queue.remove(entry)
  }

  /** Of what is not applied and not being reset; infinite where there is nothing. */
  get #oldestTurn(): number {
    return Math.min(this.#shipment?.turn ?? Number.POSITIVE_INFINITY, this.#queue.oldestTurn)
  }

  async #try(): Promise<void> {
    const { name, table, clock, observers } = this.#options
    this.#shipment ??= this.#queue.take()
    const shipment = this.#shipment
    if (!shipment) return
    try {
      const batch = batchOf(shipment, this.#writer, clock.now())
      const asked = learnedOf(shipment)
      const applied = await table.apply(batch)
      this.#shipment = undefined
      for (const { amount } of batch.deltas) this.#audit.settled(amount)
      this.#settle(shipment, applied, asked)
    } catch (error) {
      observers.event('backendFailed', { backend: 'counters', name, reason: messageOf(error) })
      throw error
    }
  }

  #settle({ entries, groups }: Shipment, applied: AppliedBatch, asked: ReadonlyMap<string, number>): void {
    const { cache, clock } = this.#options
    const now = clock.now()
    for (const entry of entries) entry.sending = 0
    for (const row of applied.entries) cache.get(row.id)?.learn(row, now, asked.get(row.id))
    for (const [index, pending] of groups.entries()) pending.decide(applied.outcomes[index])
  }
}

/** How many totals each of its entries has taken over by now. */
function learnedOf({ entries, groups }: Shipment): ReadonlyMap<string, number> {
  const all = [...entries, ...groups.flatMap((pending) => pending.entries)]
  return new Map(all.map(({ id, learned }) => [id, learned]))
}
