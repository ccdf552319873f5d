import { CounterMetric, GaugeMetric } from '@sluice/fleet/metrics'
import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { MAX_NAMES } from './metric-limits.ts'

/** Fields of a `sync` event that are counted as events, apart from `failed`. */
const COUNTED_FIELDS = ['dropped', 'missed', 'unsent', 'late', 'unread'] as const

/** Metrics of the synchronisation between processes, of quotas, and of changed policies. */
export class FleetMetrics implements InsightPart {
  readonly #failing = new GaugeMetric({
    name: 'sluice_sync_failing',
    help: '1 while a topic cannot be synchronised and the data of this process is getting stale, otherwise 0.',
    labels: ['topic'],
  })
  readonly #events = new CounterMetric({
    name: 'sluice_sync_events_total',
    help: 'Synchronisation events of a topic: failed, recovered, dropped, missed, unsent, late, unread.',
    labels: ['topic', 'event'],
  })
  readonly #notices = new CounterMetric({
    name: 'sluice_quota_notices_total',
    help: 'Keys that used 80, 100 or another chosen percentage of a quota.',
    labels: ['policy', 'threshold'],
  })
  readonly #lostUnits = new CounterMetric({
    name: 'sluice_quota_lost_units_total',
    help: 'Units admitted while the database was unavailable that no process could record.',
  })
  readonly #changes = new CounterMetric({
    name: 'sluice_policy_changes_total',
    help: 'Changes of policy documents by outcome: applied, refused. Each limiter of a document counts.',
    labels: ['source', 'outcome'],
  })
  readonly #names = new LabelBound(MAX_NAMES)

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    if (name === 'sync') this.#sync(data)
    else if (name === 'quota') this.#quota(data)
    else if (name === 'policies') {
      this.#changes.add(1, this.#names.of(data.source), data.refused === undefined ? 'applied' : 'refused')
    }
  }

  *metrics(): Iterable<Metric> {
    yield* this.#failing.metrics()
    yield* this.#events.metrics()
    yield* this.#notices.metrics()
    yield* this.#lostUnits.metrics()
    yield* this.#changes.metrics()
  }

  /** Returns the metrics with a value above 0: none if nothing is synchronised and no quota is used. */
  nonZeroMetrics(): readonly Metric[] {
    return [...this.metrics()].filter(({ samples }) => samples.some((sample) => 'value' in sample && sample.value > 0))
  }

  #sync(data: Readonly<Record<string, unknown>>): void {
    const topic = this.#names.of(data.topic)
    if (data.failed !== undefined) {
      this.#failing.set(data.failed === false ? 0 : 1, topic)
      this.#events.add(1, topic, data.failed === false ? 'recovered' : 'failed')
    }
    for (const field of COUNTED_FIELDS) if (data[field] !== undefined) this.#events.add(1, topic, field)
  }

  #quota({ policy, threshold, lost }: Readonly<Record<string, unknown>>): void {
    if (lost !== undefined) this.#lostUnits.add(amountOf(lost))
    else this.#notices.add(1, this.#names.of(policy), threshold === 100 ? '100' : '80')
  }
}
