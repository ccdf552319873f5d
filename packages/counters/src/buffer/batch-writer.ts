import { randomBytes } from 'node:crypto'
import { AWAITED, type Clock, messageOf, type Observers } from '@sluice/limiter-core/backend'
import type { AppliedBatch, CounterTable, GroupOutcome, TokenGroup } from '../ledger/counter-ledger.ts'
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

/** Before the second attempt to send a batch; twice as long before each further one. */
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 1_000

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
  #attempt: Promise<void> | undefined
  #failedAttempts = 0
  #cancelTimer: (() => void) | undefined
  /** Of units that nobody waits for. */
  readonly #audit = new UnitAudit()

  constructor(options: BatchWriterOptions) {
    this.#options = options
    this.#queue = new BatchQueue(options.maxBatch)
  }

  /** Ids that wait for an answer. */
  get waiting(): number {
    return this.#queue.size + (this.#shipment?.entries.length ?? 0)
  }

  /** Reads all that waits: for metrics. */
  get owed(): Owed {
    const owing = [...new Set([...this.#queue.entries, ...(this.#shipment?.entries ?? [])])]
    const now = this.#options.clock.now()
    const ageMs = owing.reduce((oldest, { owedSince }) => Math.max(oldest, now - owedSince), 0)
    return { ids: this.waiting, ageMs, auditDifference: this.#audit.difference(owing.map((one) => one.owedUnits)) }
  }

  /** Counts units that nobody waits for. */
  add(entry: CounterEntry, delta: number): void {
    entry.add(delta, this.#options.clock.now())
    this.#audit.counted(delta)
    this.#queue.add(entry)
    this.#schedule()
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
      this.#schedule()
    })
  }

  /** Resolves when all that was counted so far is applied; rejects where an attempt fails, and goes on trying. */
  async flush(): Promise<void> {
    const last = this.#queue.lastTurn
    while (this.#oldestTurn <= last) await this.#send()
  }

  /** Flushes, again and again until `waitMs` are over, and ends. Rejects where something is left by then. */
  async end(waitMs: number): Promise<void> {
    const { clock } = this.#options
    const endsAt = clock.now() + waitMs
    let failure: { readonly error: unknown } | undefined
    do {
      failure = await this.flush().then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
    } while (failure && (await this.#retryBefore(endsAt)))
    this.stop()
    if (failure) throw failure.error
  }

  /** Waits for the batch that is under way. Rejects as it does. */
  async settled(): Promise<void> {
    const number = this.#shipment?.number
    while (number !== undefined && this.#shipment?.number === number) await this.#send()
  }

  /** Forgets units of an entry that are in no batch. */
  forget(entry: CounterEntry): void {
    this.#audit.settled(entry.forget())
    this.#queue.remove(entry)
  }

  /** Ends the timer. What is not sent by then never is. */
  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  /** Of what is not applied and not being reset; infinite where there is nothing. */
  get #oldestTurn(): number {
    return Math.min(this.#shipment?.turn ?? Number.POSITIVE_INFINITY, this.#queue.oldestTurn)
  }

  /** Waits as long as before any attempt after a failed one; false where that is too late. */
  #retryBefore(endsAt: number): Promise<boolean> {
    const { clock } = this.#options
    if (clock.now() + this.#retryMs > endsAt) return Promise.resolve(false)
    return new Promise((resolve) => {
      clock.after(this.#retryMs, () => resolve(true), AWAITED)
    })
  }

  get #retryMs(): number {
    return Math.min(FIRST_RETRY_MS * 2 ** (this.#failedAttempts - 1), LONGEST_RETRY_MS)
  }

  #schedule(): void {
    const { clock, flushMs, keepsAlive } = this.#options
    if (this.#attempt) return
    if (this.#failedAttempts === 0 && (this.#queue.hasGroups || this.#queue.fillsBatch)) {
      this.#sendUnwatched()
      return
    }
    if (this.#queue.size === 0 && !this.#queue.hasGroups && !this.#shipment) return
    const delayMs = this.#failedAttempts === 0 ? flushMs : this.#retryMs
    this.#cancelTimer ??= clock.after(delayMs, () => this.#sendUnwatched(), { keepAlive: keepsAlive })
  }

  /** Its failure goes to observers alone. */
  #sendUnwatched(): void {
    this.#send().catch(() => {})
  }

  /** One attempt, of the batch that is not answered yet or of a new one; where one is under way, that one. */
  #send(): Promise<void> {
    this.stop()
    this.#attempt ??= this.#try().finally(() => {
      this.#attempt = undefined
      this.#schedule()
    })
    return this.#attempt
  }

  async #try(): Promise<void> {
    const { name, table, clock, observers } = this.#options
    this.#shipment ??= this.#queue.take()
    const shipment = this.#shipment
    if (!shipment) return
    try {
      const batch = batchOf(shipment, this.#writer, clock.now())
      const applied = await table.apply(batch)
      this.#shipment = undefined
      this.#failedAttempts = 0
      for (const { amount } of batch.deltas) this.#audit.settled(amount)
      this.#settle(shipment, applied)
    } catch (error) {
      this.#failedAttempts++
      observers.event('backendFailed', { backend: 'counters', name, reason: messageOf(error) })
      throw error
    }
  }

  #settle({ entries, groups }: Shipment, applied: AppliedBatch): void {
    const { cache, clock } = this.#options
    const now = clock.now()
    for (const entry of entries) entry.sending = 0
    for (const row of applied.entries) cache.get(row.id)?.learn(row, now)
    for (const [index, pending] of groups.entries()) pending.decide(applied.outcomes[index])
  }
}
