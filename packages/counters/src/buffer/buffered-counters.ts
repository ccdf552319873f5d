import type {
  BatchReceipt,
  CounterReading,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/fleet/backend'
import type { Metrics } from '@sluice/fleet/metrics'
import type { Metric, MetricSource } from '@sluice/limiter-core'
import { badOption, optionsOf, parseMs, SluiceError, shown } from '@sluice/limiter-core/backend'
import { AmountCounters } from '../amount-counters.ts'
import { checkId, checkPrefix } from '../counter-id.ts'
import type { CounterSettings } from '../counter-options.ts'
import { tokenOf } from '../counter-token.ts'
import type { GroupOutcome } from '../ledger/counter-ledger.ts'
import { listPage } from '../list-page.ts'
import { namedMetrics } from '../metrics/named-metrics.ts'
import { owedMetrics } from '../metrics/owed-metrics.ts'
import { unavailableError, withTimeout } from '../unavailable.ts'
import { BatchWriter } from './batch-writer.ts'
import type { CounterEntry } from './counter-entry.ts'
import { EntryCache } from './entry-cache.ts'

export interface BufferedCountersOptions extends CounterSettings {
  readonly maxBatch: number
  readonly maxWaiting: number
  readonly maxEntries: number
}

/** Counters that add in memory and write to a ledger in batches. */
export class BufferedCounters extends AmountCounters implements MetricSource {
  readonly #options: BufferedCountersOptions
  readonly #cache: EntryCache
  readonly #writer: BatchWriter
  readonly #metrics: Metrics
  #lastClear: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(options: BufferedCountersOptions) {
    super()
    this.#options = options
    this.#cache = new EntryCache(options)
    this.#writer = new BatchWriter({ ...options, cache: this.#cache, keepsAlive: options.durable })
    const owed: MetricSource = { metrics: () => owedMetrics('process', this.#writer.owed) }
    this.#metrics = namedMetrics(options.name, [options.table, this.#cache, owed])
  }

  metrics(): Iterable<Metric> {
    return this.#metrics.metrics()
  }

  /**
   * Counts validated deltas by id. A call that waits for the ledger times out at clock time `endsAt`, by default after
   * `waitMs`.
   */
  async count(amounts: ReadonlyMap<string, number>, options: IncrementOptions, endsAt?: number): Promise<BatchReceipt> {
    const { token, durable = false } = optionsOf('increment', options, ['token', 'durable'])
    if (typeof durable !== 'boolean') throw badOption('increment: durable', durable, 'true or false')
    const hashes = token === undefined ? undefined : tokenOf(token, amounts)
    const { clock, waitMs } = this.#options
    const isWaited = hashes !== undefined || durable
    const until = isWaited ? (endsAt ?? clock.now() + waitMs) : Number.POSITIVE_INFINITY
    this.#checkOpen()
    const known = await this.#known(amounts.keys(), until)
    this.#checkOpen()
    const entries = known.map((entry) => this.#cache.pinned(entry))
    this.#checkRoom(entries, amounts)
    const outcome = isWaited
      ? await this.#wait({ token: hashes, ageMs: 0, amounts }, entries, until)
      : this.#add(entries, amounts)
    if (outcome === 'reused' || outcome === 'full') throw rejectedToken(outcome)
    return {
      values: new Map(entries.map(({ id, value }) => [id, value])),
      durable: isWaited && this.#options.durable,
      counted: outcome === 'counted',
    }
  }

  async read(id: string, options: ReadOptions = {}): Promise<CounterReading> {
    checkId(id)
    const { maxAgeMs } = optionsOf('read', options, ['maxAgeMs'])
    this.#checkOpen()
    if (maxAgeMs === undefined) return (await this.#cache.load(id, this.#options.expireMs)).reading()
    const ageMs = parseMs(maxAgeMs, 'read: maxAgeMs')
    await this.#writer.settled()
    const entry = await this.#cache.load(id, ageMs)
    // a batch that started since then has some of its units; its reply contains the total
    if (entry.isSent) await this.#writer.settled()
    return entry.reading()
  }

  async readMany(prefix: string, options: ReadManyOptions = {}): Promise<readonly CounterReading[]> {
    const page = listPage(prefix, options)
    await this.flush()
    return this.#options.table.list(prefix, page)
  }

  async aggregate(prefix: string, kind = 'sum'): Promise<number> {
    checkPrefix(prefix)
    if (kind !== 'sum') throw badOption('aggregate: kind', kind, "'sum'")
    await this.flush()
    return this.#options.table.sum(prefix)
  }

  async flush(): Promise<void> {
    this.#checkOpen()
    await this.#writer.flush()
  }

  close(): Promise<void> {
    // a reset that fails leaves units to flush
    this.#closing ??= this.#lastClear.then(() => this.#writer.end(this.#options.waitMs))
    return this.#closing
  }

  #known(ids: Iterable<string>, endsAt: number): Promise<readonly CounterEntry[]> {
    const known = Promise.all(Array.from(ids, (id) => this.#cache.load(id, Number.POSITIVE_INFINITY)))
    if (endsAt === Number.POSITIVE_INFINITY) return known
    const { clock } = this.#options
    return withTimeout(known, { clock, waitMs: endsAt - clock.now(), late: () => this.#late(false) })
  }

  #add(entries: readonly CounterEntry[], amounts: ReadonlyMap<string, number>): GroupOutcome {
    for (const entry of entries) this.#writer.add(entry, amounts.get(entry.id) ?? 0)
    return 'counted'
  }

  #wait(
    group: Parameters<BatchWriter['addGroup']>[0],
    entries: readonly CounterEntry[],
    endsAt: number,
  ): Promise<GroupOutcome> {
    const waitMs = endsAt - this.#options.clock.now()
    // a group added now would be sent although its caller has given up
    if (waitMs <= 0) throw this.#late(false)
    return this.#writer.addGroup(group, entries, { waitMs, late: (mayHaveCounted) => this.#late(mayHaveCounted) })
  }

  #late(mayHaveCounted: boolean): Error {
    const outcome = mayHaveCounted ? 'the increment may still be counted' : 'nothing was counted'
    return unavailableError(`increment: the ledger did not reply within ${this.#options.waitMs} ms; ${outcome}`)
  }

  /**
   * Throws `SLUICE_COUNTER_RANGE` if a value would leave its range, and `SLUICE_COUNTERS_FULL` if too many ids are
   * unwritten. Then nothing is counted.
   */
  #checkRoom(entries: readonly CounterEntry[], amounts: ReadonlyMap<string, number>): void {
    for (const entry of entries) {
      const delta = amounts.get(entry.id) ?? 0
      if (entry.hasRoomFor(delta)) continue
      const received = `${shown(delta)} for a value of ${entry.value}`
      throw new SluiceError('SLUICE_COUNTER_RANGE', `delta: expected a value within ±(2^53 - 1), received ${received}`)
    }
    const { maxWaiting } = this.#options
    const added = entries.filter(({ waits }) => !waits).length
    if (this.#writer.waiting + added <= maxWaiting) return
    throw new SluiceError(
      'SLUICE_COUNTERS_FULL',
      `increment: expected at most ${maxWaiting} ids that wait for the ledger, received more`,
    )
  }

  protected clear(id: string, deleted: boolean): Promise<void> {
    // one at a time: of two concurrent resets, the first to end would clear `isBeingReset` for the other
    const cleared = this.#lastClear.then(() => this.#clearNow(id, deleted))
    this.#lastClear = cleared.catch(() => {})
    return cleared
  }

  async #clearNow(id: string, deleted: boolean): Promise<void> {
    this.#checkOpen()
    const entry = this.#cache.pinned(await this.#cache.load(id, Number.POSITIVE_INFINITY))
    entry.isBeingReset = true
    try {
      await this.#writer.settled()
      const row = await this.#options.table.clear(id, { deleted })
      this.#writer.forget(entry)
      entry.acceptTotal(row, this.#options.clock.now())
    } catch (error) {
      // the reset may have been applied: it must drop older units only, so later units go into another batch
      entry.seal()
      throw error
    } finally {
      entry.isBeingReset = false
    }
  }

  #checkOpen(): void {
    if (this.#closing === undefined) return
    throw new SluiceError('SLUICE_COUNTERS_CLOSED', `counters '${this.#options.name}' are closed`)
  }
}

function rejectedToken(outcome: 'reused' | 'full'): SluiceError {
  return outcome === 'reused'
    ? new SluiceError(
        'SLUICE_TOKEN_REUSED',
        'token: expected a new token, received a token that counted other deltas within 24 hours',
      )
    : new SluiceError(
        'SLUICE_COUNTERS_FULL',
        'token: expected at most 1,000,000 tokens within 24 hours in memory, received more; use a ledger on disk',
      )
}
