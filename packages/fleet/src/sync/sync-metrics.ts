import type { Metric, MetricSource } from '@sluice/limiter-core/backend'
import { CounterMetric, type CounterSeries } from '../metrics/counter-metric.ts'
import { GaugeMetric } from '../metrics/gauge-metric.ts'
import { HistogramMetric } from '../metrics/histogram-metric.ts'
import { Metrics } from '../metrics/metrics.ts'

const PIPELINE_MS = [0.5, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 250, 500, 1_000]
const TICK_MS = [0.5, 1, 2, 5, 10, 25, 50, 100, 150, 250, 400, 600, 800, 1_000]
const SIZES = [1, 10, 50, 100, 500, 1_000, 5_000, 10_000]
const DRIFT = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1]
const STALENESS_MS = [100, 500, 1_000, 5_000, 10_000, 15_000, 30_000, 60_000]

/** Tiers of keys by the used fraction of their limit, in ascending order. The names are labels of metrics. */
export const TIERS = ['idle', 'low', 'normal', 'hot'] as const
export type Tier = (typeof TIERS)[number]

/** Returns the tier of a used fraction of a limit. The bounds 0.1, 0.5 and 0.8 are taken from PostHog. */
export function tierOf(pressure: number): Tier {
  if (pressure < 0.1) return 'idle'
  if (pressure < 0.5) return 'low'
  return pressure < 0.8 ? 'normal' : 'hot'
}

/** Metrics of a synced backend. Names, labels and buckets follow PostHog's global limiter. Keys are never labels. */
export class SyncMetrics implements MetricSource {
  readonly allowed: CounterSeries
  readonly limited: CounterSeries
  readonly hits: CounterSeries
  readonly misses: CounterSeries
  readonly queued: CounterSeries
  readonly reportedKeys: CounterSeries
  readonly outageDecisions: CounterMetric
  readonly errors: CounterMetric
  readonly transitions: CounterMetric
  readonly commands: CounterMetric
  readonly evictions: CounterMetric
  readonly pipelineMs: HistogramMetric
  readonly tickMs: HistogramMetric
  readonly pipelineSize: HistogramMetric
  readonly drift: HistogramMetric
  readonly stalenessMs: HistogramMetric
  readonly tiers: GaugeMetric
  readonly pending: GaugeMetric
  readonly deferred: GaugeMetric
  readonly nodes: GaugeMetric
  readonly cacheBytes: GaugeMetric
  readonly #all: Metrics

  constructor() {
    const evals = counter('eval_counts_total', 'Decisions by result.', 'result')
    const cache = counter(
      'cache_counts_total',
      'Takes of known and unknown keys, and requests of keys from the ledger.',
      'result',
    )
    const records = counter('records_total', 'Keys that were reported to the ledger.', 'op')
    this.allowed = evals.labels('allowed')
    this.limited = evals.labels('limited')
    this.hits = cache.labels('hit')
    this.misses = cache.labels('miss')
    this.queued = cache.labels('sync_queued')
    this.reportedKeys = records.labels('exchange')
    this.outageDecisions = counter(
      'outage_decisions_total',
      'Decisions while the ledger did not reply, by the rule that decided.',
      'source',
    )
    this.errors = counter('error_total', 'Errors by step and cause.', 'step', 'cause')
    const moved = 'Keys that moved from one tier of usage to another.'
    this.transitions = counter('tier_transitions_total', moved, 'from', 'to')
    this.commands = counter('commands_total', 'Calls to the ledger.')
    this.evictions = counter('eviction_total', 'Keys that were evicted while they were in use.')
    this.pipelineMs = histogram('pipeline_ms', 'Duration of one call in ms.', PIPELINE_MS)
    this.tickMs = histogram('tick_ms', 'Time for which a tick blocked the event loop in ms.', TICK_MS)
    this.pipelineSize = histogram('pipeline_size', 'Keys per call.', SIZES)
    this.drift = histogram('estimate_drift', 'Change of a key by a reply, as a fraction of the limit.', DRIFT)
    this.stalenessMs = histogram(
      'sync_staleness_ms',
      'Age of the known usage of a key when the next reply arrived, in ms.',
      STALENESS_MS,
    )
    this.tiers = gauge('sync_tier_gauge', 'Keys in replies since the last reading, by tier of usage.', 'tier')
    this.pending = gauge('pending_sync_size', 'Keys with pending reports.')
    this.deferred = gauge('sync_deferred_size', 'Keys that the last tick left to the next one.')
    this.nodes = gauge('nodes', 'Processes that are known to share the limits.')
    this.cacheBytes = gauge('cache_bytes', 'Memory of the table of keys in bytes.')
    const { outageDecisions, errors, transitions, commands, evictions } = this
    const { pipelineMs, tickMs, pipelineSize, drift, stalenessMs, tiers, pending, deferred, nodes, cacheBytes } = this
    const counters = [evals, cache, records, outageDecisions, errors, transitions, commands, evictions]
    const histograms = [pipelineMs, tickMs, pipelineSize, drift, stalenessMs]
    this.#all = new Metrics([...counters, ...histograms, tiers, pending, deferred, nodes, cacheBytes], {
      prefix: 'sluice_global_',
    })
  }

  metrics(): Iterable<Metric> {
    return this.#all.metrics()
  }
}

function counter(name: string, help: string, ...labels: readonly string[]): CounterMetric {
  return new CounterMetric({ name, help, labels })
}

function gauge(name: string, help: string, ...labels: readonly string[]): GaugeMetric {
  return new GaugeMetric({ name, help, labels })
}

function histogram(name: string, help: string, buckets: readonly number[]): HistogramMetric {
  return new HistogramMetric({ name, help, buckets })
}
