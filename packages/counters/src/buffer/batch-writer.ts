import { randomBytes } from 'node:crypto'
import { AWAITED, type Clock, messageOf, type Observers } from '@sluice/limiter-core/backend'
import type { AppliedBatch, CounterBatch, CounterTable, GroupOutcome, TokenGroup } from '../ledger/counter-ledger.ts'
import type { Owed } from '../metrics/owed-metrics.ts'
import { UnitAudit } from '../metrics/unit-audit.ts'
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

/** What goes out together, and is sent again as it is until it is answered. */
interface Shipment {
  readonly number: number
  readonly entries: readonly CounterEntry[]
  readonly groups: readonly PendingGroup[]
  /** Turn of the first that came of what is in it. */
  readonly turn: number
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
  #number = 0
  /** Of what came last: everything that waits has a turn, later ones higher ones. */
  #turn = 0
  /** Entries with units that are in no batch yet, and their turns, the oldest first. */
  readonly #dirty = new Map<CounterEntry, number>()
  /** Those of them that the last batch left, since groups of it had their ids: groups of the next one wait for them. */
  #passedOver: ReadonlySet<CounterEntry> = new Set()
  /** In no batch yet. */
  #groups: PendingGroup[] = []
  /** Not answered yet. */
  #shipment: Shipment | undefined
  #attempt: Promise<void> | undefined
  #failedAttempts = 0
  #cancelTimer: (() => void) | undefined
  /** Of units that nobody waits for. */
  readonly #audit = new UnitAudit()

  constructor(options: BatchWriterOptions) {
    this.#options = options
  }

  /** Ids that wait for an answer. */
  get waiting(): number {
    const sent = this.#shipment?.entries.length ?? 0
    return this.#dirty.size + sent + this.#groups.reduce((sum, { entries }) => sum + entries.length, 0)
  }

  /** Reads all that waits: for metrics. */
  get owed(): Owed {
    const owing = [...new Set([...this.#dirty.keys(), ...(this.#shipment?.entries ?? [])])]
    const now = this.#options.clock.now()
    const ageMs = owing.reduce((oldest, { owedSince }) => Math.max(oldest, now - owedSince), 0)
    return { ids: this.waiting, ageMs, auditDifference: this.#audit.difference(owing.map((one) => one.owedUnits)) }
  }

  /** Counts units that nobody waits for. */
  add(entry: CounterEntry, delta: number): void {
    entry.add(delta, this.#options.clock.now())
    this.#audit.counted(delta)
    if (!this.#dirty.has(entry)) this.#dirty.set(entry, ++this.#turn)
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
      const pending = new PendingGroup({ group, entries, turn: ++this.#turn }, (outcome) => {
        cancel()
        resolve(outcome)
      })
      const abandon = (): void => {
        const isWithdrawn = this.#withdraw(pending)
        if (!isWithdrawn) pending.abandonedAt = clock.now()
        reject(late(!isWithdrawn))
      }
      const cancel = clock.after(waitMs, abandon, AWAITED)
      this.#groups.push(pending)
      this.#schedule()
    })
  }

  /** Resolves when all that was counted so far is applied; rejects where an attempt fails, and goes on trying. */
  async flush(): Promise<void> {
    const last = this.#turn
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
    this.#dirty.delete(entry)
  }

  /** Ends the timer. What is not sent by then never is. */
  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  /** Of what is not applied and not being reset; infinite where there is nothing. */
  get #oldestTurn(): number {
    const waits = Math.min(
      this.#shipment?.turn ?? Number.POSITIVE_INFINITY,
      this.#groups[0]?.turn ?? Number.POSITIVE_INFINITY,
    )
    for (const [{ isBeingReset }, turn] of this.#dirty) if (!isBeingReset) return Math.min(waits, turn)
    return waits
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

  /** False where it is in a batch already. */
  #withdraw(pending: PendingGroup): boolean {
    if (!this.#groups.includes(pending)) return false
    this.#groups = this.#groups.filter((other) => other !== pending)
    pending.release()
    return true
  }

  #schedule(): void {
    const { clock, flushMs, keepsAlive } = this.#options
    if (this.#attempt) return
    if (this.#failedAttempts === 0 && (this.#groups.length > 0 || this.#fillsBatch)) {
      this.#sendUnwatched()
      return
    }
    if (this.#dirty.size === 0 && this.#groups.length === 0 && !this.#shipment) return
    const delayMs = this.#failedAttempts === 0 ? flushMs : this.#retryMs
    this.#cancelTimer ??= clock.after(delayMs, () => this.#sendUnwatched(), { keepAlive: keepsAlive })
  }

  get #fillsBatch(): boolean {
    let left = this.#options.maxBatch
    if (this.#dirty.size < left) return false
    for (const { isBeingReset } of this.#dirty.keys()) if (!isBeingReset && --left === 0) return true
    return false
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
    const { name, table, observers } = this.#options
    this.#shipment ??= this.#compose()
    const shipment = this.#shipment
    if (!shipment) return
    try {
      const batch = this.#batchOf(shipment)
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

  /** Groups first, since somebody waits; then units of other ids than theirs, which a reset may take away apart. */
  #compose(): Shipment | undefined {
    const groups = this.#nextGroups()
    const oldest = this.#oldestTurn
    const entries = this.#nextEntries(new Set(groups.flatMap((pending) => pending.entries)))
    if (groups.length === 0 && entries.length === 0) return undefined
    return { number: ++this.#number, entries, groups, turn: Math.min(oldest, groups[0]?.turn ?? oldest) }
  }

  /** One at least, or groups could keep the others waiting for good. */
  #nextEntries(taken: ReadonlySet<CounterEntry>): readonly CounterEntry[] {
    const next: CounterEntry[] = []
    const passedOver = new Set(this.#passedOver)
    for (const entry of this.#dirty.keys()) {
      if (next.length > 0 && taken.size + next.length >= this.#options.maxBatch) break
      if (taken.has(entry)) passedOver.add(entry)
      else if (!entry.isBeingReset && this.#sends(entry)) next.push(entry)
    }
    this.#passedOver = new Set([...passedOver].filter((entry) => this.#dirty.has(entry)))
    return next
  }

  /** What was counted after a reset in doubt keeps its turn for the next batch. */
  #sends(entry: CounterEntry): boolean {
    const isSent = entry.send()
    if (!entry.waits) this.#dirty.delete(entry)
    return isSent
  }

  /** Those of one batch: no two with one token, of which the second is decided by what the first one did. */
  #nextGroups(): readonly PendingGroup[] {
    const next: PendingGroup[] = []
    const tokens = new Set<string>()
    let ids = 0
    this.#groups = this.#groups.filter((pending) => {
      const { token } = pending
      const isFull = next.length > 0 && ids + pending.entries.length > this.#options.maxBatch
      const isBehind = pending.entries.some((entry) => this.#passedOver.has(entry) && !entry.isBeingReset)
      if (isFull || isBehind || (token !== undefined && tokens.has(token))) return true
      ids += pending.entries.length
      if (token !== undefined) tokens.add(token)
      next.push(pending)
      return false
    })
    return next
  }

  #batchOf({ number, entries, groups }: Shipment): CounterBatch {
    const now = this.#options.clock.now()
    return {
      writer: this.#writer,
      number,
      deltas: entries.map(({ id, sending, sendingSince }) => ({ id, amount: sending, ageMs: now - sendingSince })),
      groups: groups.map((pending) => pending.sentAt(now)),
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
