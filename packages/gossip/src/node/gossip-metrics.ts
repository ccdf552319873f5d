import { BUCKETS_MS, codeOf } from '@sluice/counters/backend'
import { CounterMetric, HistogramMetric } from '@sluice/fleet/metrics'
import type { Clock, Metric, MetricSource, ValueSample } from '@sluice/limiter-core'
import type { IgnoredReason } from '../log/replica-table.ts'

/** Maximum number of results with a recorded time. Sluice has fewer codes, but custom peers may fail with others. */
const MAX_RESULTS = 100

/** Metrics of a gossip node: exchanges, rejected messages, bytes, and the age of received items. */
export class GossipMetrics implements MetricSource {
  readonly #exchanges = new CounterMetric({
    name: 'sluice_gossip_exchanges_total',
    help: 'Exchanges with other replicas started by this one, by result.',
    labels: ['result'],
  })
  readonly #refused = new CounterMetric({
    name: 'sluice_gossip_refused_total',
    help: 'Messages of other replicas that were rejected, by error code.',
    labels: ['code'],
  })
  readonly #ignored = new CounterMetric({
    name: 'sluice_gossip_ignored_total',
    help: 'Parts of messages that were ignored, by reason: too-many-logs (parts of new logs), other-kind (items).',
    labels: ['reason'],
  })
  readonly #bytes = new CounterMetric({
    name: 'sluice_gossip_bytes_total',
    help: 'Bytes of messages and replies, by direction: sent, received.',
    labels: ['direction'],
  })
  readonly #sent = this.#bytes.labels('sent')
  readonly #received = this.#bytes.labels('received')
  /** Process time of the last exchange, by result. */
  readonly #exchangedAt = new Map<string, number>()
  readonly #ageMs = new HistogramMetric({
    name: 'sluice_gossip_age_ms',
    help: 'Age of items written by other replicas when they arrived, in milliseconds.',
    buckets: BUCKETS_MS,
  })
  readonly #clock: Clock
  readonly #replicas: () => number

  constructor(clock: Clock, replicas: () => number) {
    this.#clock = clock
    this.#replicas = replicas
  }

  /** Counts an exchange with another replica that replied. */
  replied(): void {
    this.#exchanged('ok')
  }

  /** Counts an exchange that failed with any error, which a custom peer chooses. */
  failed(error: unknown): void {
    this.#exchanged(codeOf(error))
  }

  /** Counts the bytes of a message and of its reply. */
  carried({ sent = 0, received = 0 }: { readonly sent?: number; readonly received?: number }): void {
    this.#sent.add(sent)
    this.#received.add(received)
  }

  refused(error: unknown): void {
    this.#refused.add(1, codeOf(error))
  }

  ignored(reason: IgnoredReason): void {
    this.#ignored.add(1, reason)
  }

  received(ageMs: number): void {
    this.#ageMs.observe(ageMs)
  }

  *metrics(): Iterable<Metric> {
    const replicas = { labels: {}, value: this.#replicas() }
    yield {
      name: 'sluice_gossip_replicas',
      help: 'Replicas whose logs hold at least one item.',
      type: 'gauge',
      samples: [replicas],
    }
    yield* this.#exchanges.metrics()
    yield* this.#refused.metrics()
    yield* this.#ignored.metrics()
    yield* this.#bytes.metrics()
    yield {
      name: 'sluice_gossip_exchange_age_ms',
      help: 'Time since the last exchange with each result, in milliseconds.',
      type: 'gauge',
      samples: this.#exchangeAges(),
    }
    yield* this.#ageMs.metrics()
  }

  #exchanged(result: string): void {
    this.#exchanges.add(1, result)
    if (this.#exchangedAt.size < MAX_RESULTS || this.#exchangedAt.has(result)) {
      this.#exchangedAt.set(result, this.#clock.now())
    }
  }

  #exchangeAges(): ValueSample[] {
    const now = this.#clock.now()
    return Array.from(this.#exchangedAt, ([result, at]) => ({ labels: { result }, value: now - at }))
  }
}
