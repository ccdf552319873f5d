import { TurnBatch } from '@sluice/fleet/backend'
import { CounterMetric } from '@sluice/fleet/metrics'
import type { Metric, MetricSource } from '@sluice/limiter-core'
import { afterThisTurn, type Clock } from '@sluice/limiter-core/backend'
import type { CounterTable } from '../ledger/counter-ledger.ts'
import { unavailableError, withTimeout } from '../unavailable.ts'
import { CounterEntry } from './counter-entry.ts'

interface PendingRead {
  readonly entry: CounterEntry
  readonly resolve: (entry: CounterEntry) => void
  readonly reject: (error: unknown) => void
}

/**
 * Maximum number of concurrent ledger reads. More reads would block batches if the ledger is slow and connections are
 * few.
 */
const MAX_READS = 4

export interface EntryCacheOptions {
  readonly table: CounterTable
  readonly clock: Clock
  /** Maximum age of a total before its entry may be evicted, in ms. */
  readonly expireMs: number
  /** Maximum number of entries without unwritten units. */
  readonly maxEntries: number
  /** Timeout of a lookup, in ms. */
  readonly waitMs: number
}

/**
 * Cache of counter entries in order of their last use. Lookups of one event loop turn share a ledger read; while the
 * maximum number of reads is under way, later lookups are combined into the next read.
 */
export class EntryCache implements MetricSource {
  readonly #options: EntryCacheOptions
  readonly #entries = new Map<string, CounterEntry>()
  readonly #reads: TurnBatch<PendingRead>
  /** Lookups for the next read. */
  #waiting: PendingRead[] = []
  #underWay = 0
  readonly #lookups = new CounterMetric({
    name: 'cache_reads_total',
    help: 'Lookups of counters in memory, by result; a miss reads the ledger.',
    labels: ['result'],
  })
  readonly #hits = this.#lookups.labels('hit')
  readonly #misses = this.#lookups.labels('miss')

  constructor(options: EntryCacheOptions) {
    this.#options = options
    this.#reads = new TurnBatch((batch) => {
      this.#waiting = this.#waiting.concat(batch.take())
      this.#readOn()
    })
  }

  *metrics(): Iterable<Metric> {
    const entries = { labels: {}, value: this.#entries.size }
    yield { name: 'entries', help: 'Counters kept in memory by this process.', type: 'gauge', samples: [entries] }
    yield* this.#lookups.metrics()
  }

  get(id: string): CounterEntry | undefined {
    return this.#entries.get(id)
  }

  /**
   * Returns the entry, read from the ledger unless the cached total is younger than `maxAgeMs`. While a batch has units
   * of the entry, the cached entry is returned: a total read meanwhile may or may not include those units, and the
   * reply to the batch brings a new total.
   */
  async load(id: string, maxAgeMs: number): Promise<CounterEntry> {
    const now = this.#options.clock.now()
    const entry = this.#entries.get(id)
    if (entry && (entry.isSent || now - entry.readAt < maxAgeMs)) {
      this.#hits.add(1)
      this.#entries.delete(id)
      this.#entries.set(id, entry)
      return entry
    }
    this.#misses.add(1)
    const read = entry ?? new CounterEntry(id)
    this.#entries.set(id, read)
    // the entry stays cached until the reply, so that a late reply meets the units counted meanwhile
    read.reads++
    const { clock, waitMs } = this.#options
    const answer = new Promise<CounterEntry>((resolve, reject) => this.#reads.add({ entry: read, resolve, reject }))
    const late = (): Error => unavailableError(`the counter ledger did not reply within ${waitMs} ms`)
    return withTimeout(answer, { clock, waitMs, late })
  }

  /**
   * Returns the cached entry of a counter after a wait: a newer entry if one was created, otherwise `entry`, cached
   * again.
   */
  pinned(entry: CounterEntry): CounterEntry {
    const kept = this.#entries.get(entry.id)
    if (kept) return kept
    // other processes may have counted since it was evicted
    entry.readAt = Number.NEGATIVE_INFINITY
    this.#entries.set(entry.id, entry)
    return entry
  }

  /** Evicts old entries, and the oldest ones beyond `maxEntries`, unless they must stay in memory. */
  sweep(): void {
    const { clock, expireMs, maxEntries } = this.#options
    const now = clock.now()
    for (const [id, entry] of this.#entries) {
      const isOld = now - entry.readAt > expireMs
      if (!isOld && this.#entries.size <= maxEntries) return
      if (!entry.isOwed) this.#entries.delete(id)
    }
  }

  #readOn(): void {
    if (this.#waiting.length === 0 || this.#underWay === MAX_READS) return
    const reads = this.#waiting
    this.#waiting = []
    this.#underWay++
    void this.#read(reads).finally(() => {
      this.#underWay--
      this.#readOn()
    })
  }

  async #read(reads: readonly PendingRead[]): Promise<void> {
    const { table, clock } = this.#options
    const learned = new Map(reads.map(({ entry }) => [entry, entry.acceptedTotals]))
    try {
      const { entries } = await table.read([...new Set(reads.map(({ entry }) => entry.id))])
      const now = clock.now()
      const rows = new Map(entries.map((row) => [row.id, row]))
      for (const { entry, resolve } of reads) {
        const row = rows.get(entry.id)
        if (row && !entry.isSent) entry.acceptTotal(row, now, learned.get(entry))
        resolve(entry)
      }
    } catch (error) {
      for (const { reject } of reads) reject(error)
    } finally {
      for (const { entry } of reads) entry.reads--
      // waiting callers continue first
      afterThisTurn(() => this.sweep())
    }
  }
}
