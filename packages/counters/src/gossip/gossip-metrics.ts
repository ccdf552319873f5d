import type { Metric, MetricSource } from '@sluice/limiter-core'
import { CounterMetric, HistogramMetric } from '@sluice/limiter-core/backend'
import { codeOf } from '../metrics/code-of.ts'
import { BUCKETS_MS } from '../metrics/time-buckets.ts'

/** What a replica did, and what it refused. */
export class GossipMetrics implements MetricSource {
  readonly #exchanges = new CounterMetric({
    name: 'sluice_gossip_exchanges_total',
    help: 'Exchanges with other replicas that this one began, by result.',
    labels: ['result'],
  })
  readonly #refused = new CounterMetric({
    name: 'sluice_gossip_refused_total',
    help: 'Messages of others that were refused, by code.',
    labels: ['code'],
  })
  readonly #ageMs = new HistogramMetric({
    name: 'sluice_gossip_age_ms',
    help: 'How old what others wrote was when it came here, in milliseconds.',
    buckets: BUCKETS_MS,
  })
  readonly #replicas: () => number

  constructor(replicas: () => number) {
    this.#replicas = replicas
  }

  exchanged(error?: unknown): void {
    this.#exchanges.add(1, error === undefined ? 'ok' : codeOf(error))
  }

  refused(error: unknown): void {
    this.#refused.add(1, codeOf(error))
  }

  received(ageMs: number): void {
    this.#ageMs.observe(ageMs)
  }

  *metrics(): Iterable<Metric> {
    const replicas = { labels: {}, value: this.#replicas() }
    yield {
      name: 'sluice_gossip_replicas',
      help: 'Replicas of which something is kept.',
      type: 'gauge',
      samples: [replicas],
    }
    yield* this.#exchanges.metrics()
    yield* this.#refused.metrics()
    yield* this.#ageMs.metrics()
  }
}
