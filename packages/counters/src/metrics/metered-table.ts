import { CounterMetric, HistogramMetric, Metrics } from '@sluice/fleet/metrics'
import type { Clock, Metric, MetricSource } from '@sluice/limiter-core'
import type { AppliedBatch, CounterBatch, CounterTable, LedgerEntry, LedgerRead } from '../ledger/counter-ledger.ts'
import { codeOf } from './code-of.ts'
import { BUCKETS_MS } from './time-buckets.ts'

/** Counter table that measures the batches written to it. */
export class MeteredTable implements CounterTable, MetricSource {
  readonly #table: CounterTable
  readonly #clock: Clock
  readonly #batches = new CounterMetric({
    name: 'batches_total',
    help: 'Batches sent to the ledger, by result.',
    labels: ['result'],
  })
  readonly #flushMs = new HistogramMetric({
    name: 'flush_ms',
    help: 'Time the ledger took to apply a batch, in milliseconds.',
    buckets: BUCKETS_MS,
  })
  readonly #convergenceMs = new HistogramMetric({
    name: 'convergence_ms',
    help: 'Time from the first unit of a batch until the ledger had applied it for all processes, in milliseconds.',
    buckets: BUCKETS_MS,
  })
  readonly #duplicates = new CounterMetric({
    name: 'duplicates_total',
    help: 'Increments and batches that counted nothing because their token had counted before.',
  })
  readonly #all = new Metrics([this.#batches, this.#flushMs, this.#convergenceMs, this.#duplicates])

  constructor(table: CounterTable, clock: Clock) {
    this.#table = table
    this.#clock = clock
  }

  metrics(): Iterable<Metric> {
    return this.#all.metrics()
  }

  async apply(batch: CounterBatch): Promise<AppliedBatch> {
    const from = this.#clock.now()
    try {
      const applied = await this.#table.apply(batch)
      this.#observe(batch, applied, Math.max(0, this.#clock.now() - from))
      return applied
    } catch (error) {
      this.#batches.add(1, codeOf(error))
      throw error
    }
  }

  read(ids: readonly string[], writer?: string): Promise<LedgerRead> {
    return this.#table.read(ids, writer)
  }

  list(prefix: string, page: Parameters<CounterTable['list']>[1]): Promise<readonly LedgerEntry[]> {
    return this.#table.list(prefix, page)
  }

  sum(prefix: string): Promise<number> {
    return this.#table.sum(prefix)
  }

  clear(id: string, options: Parameters<CounterTable['clear']>[1]): Promise<LedgerEntry> {
    return this.#table.clear(id, options)
  }

  #observe({ deltas, groups }: CounterBatch, { outcomes }: AppliedBatch, tookMs: number): void {
    const oldestMs = [...deltas, ...groups].reduce((oldest, { ageMs }) => Math.max(oldest, ageMs), 0)
    this.#batches.add(1, 'ok')
    this.#flushMs.observe(tookMs)
    this.#convergenceMs.observe(oldestMs + tookMs)
    this.#duplicates.add(outcomes.filter((outcome) => outcome === 'duplicate').length)
  }
}
