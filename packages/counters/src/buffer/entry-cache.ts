import type { Metric, MetricSource } from '@sluice/limiter-core'
import { afterThisTurn, type Clock, CounterMetric, TurnBatch } from '@sluice/limiter-core/backend'
import type { CounterTable } from '../ledger/counter-ledger.ts'
import { answeredWithin, unanswered } from '../unanswered.ts'
import { CounterEntry } from './counter-entry.ts'

interface PendingRead {
  readonly entry: CounterEntry
  readonly resolve: (entry: CounterEntry) => void
  readonly reject: (error: unknown) => void
}

/** Reads of the ledger at once; more would keep batches from its connections where it is slow. */
const MOST_READS = 4

export interface EntryCacheOptions {
  readonly table: CounterTable
  readonly clock: Clock
  /** How long an entry is kept that nobody asks for, in ms. */
  readonly expireMs: number
  /** Most entries of which the ledger has all. */
  readonly maxEntries: number
  /** How long an entry is waited for, in ms. */
  readonly waitMs: number
}

/**
 * The counters that a process knows, those asked for last at the end. What is asked for in one turn is one read of the
 * ledger; while there are as many reads as there may be, so is what is asked for until one ends.
 */
export class EntryCache implements MetricSource {
  readonly #options: EntryCacheOptions
  readonly #entries = new Map<string, CounterEntry>()
  readonly #reads: TurnBatch<PendingRead>
  /** Not under way yet. */
  #waiting: PendingRead[] = []
  #underWay = 0
  readonly #lookups = new CounterMetric({
    name: 'cache_reads_total',
    help: 'Counters that were looked up in memory, by result: a miss reads the ledger.',
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
    yield { name: 'entries', help: 'Counters in the memory of this process.', type: 'gauge', samples: [entries] }
    yield* this.#lookups.metrics()
  }

  get(id: string): CounterEntry | undefined {
    return this.#entries.get(id)
  }

  /**
   * The entry, read from the ledger unless it is known and younger than `maxAgeMs`. While a batch with units of it is
   * under way it is what it is: a total may or may not have these units, and the answer to the batch brings a new one.
   */
  async known(id: string, maxAgeMs: number): Promise<CounterEntry> {
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
    // it stays until the answer: one that is late must meet what was counted meanwhile, and not stand in its place
    read.reads++
    const { clock, waitMs } = this.#options
    const answer = new Promise<CounterEntry>((resolve, reject) => this.#reads.add({ entry: read, resolve, reject }))
    const late = (): Error => unanswered(`the ledger of counters gave no answer within ${waitMs} ms`)
    return answeredWithin(answer, { clock, waitMs, late })
  }

  /** The entry that stands for its counter, from before a wait until now: the one that was made since, if there is one. */
  pinned(entry: CounterEntry): CounterEntry {
    const kept = this.#entries.get(entry.id)
    if (kept) return kept
    // nobody knows what was counted since it went
    entry.readAt = Number.NEGATIVE_INFINITY
    this.#entries.set(entry.id, entry)
    return entry
  }

  /** Lets go of entries that are old, and of the oldest ones where there are too many, unless something of them is owed. */
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
    if (this.#waiting.length === 0 || this.#underWay === MOST_READS) return
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
    const asked = new Map(reads.map(({ entry }) => [entry, entry.learned]))
    try {
      const { entries } = await table.read([...new Set(reads.map(({ entry }) => entry.id))])
      const now = clock.now()
      const rows = new Map(entries.map((row) => [row.id, row]))
      for (const { entry, resolve } of reads) {
        const row = rows.get(entry.id)
        if (row && !entry.isSent) entry.learn(row, now, asked.get(entry))
        resolve(entry)
      }
    } catch (error) {
      for (const { reject } of reads) reject(error)
    } finally {
      for (const { entry } of reads) entry.reads--
      // those who wait go on first
      afterThisTurn(() => this.sweep())
    }
  }
}
