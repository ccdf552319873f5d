import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import { CounterMetric, GaugeMetric } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { MAX_NAMES } from './metric-limits.ts'

/** What a `sync` event can tell, apart from `failed`. */
const TOLD = ['dropped', 'missed', 'unsent', 'late', 'unread'] as const

/** How processes hear of each other, and quotas that are used. */
export class FleetMetrics implements InsightPart {
  readonly #failing = new GaugeMetric({
    name: 'sluice_sync_failing',
    help: '1 while what this process shares of a topic does not come through, and what it knows grows old.',
    labels: ['topic'],
  })
  readonly #events = new CounterMetric({
    name: 'sluice_sync_events_total',
    help: 'Events of a shared topic: failed, recovered, dropped, missed, unsent, late, unread.',
    labels: ['topic', 'event'],
  })
  readonly #notices = new CounterMetric({
    name: 'sluice_quota_notices_total',
    help: 'Keys that reached 80 or 100 per cent of a quota.',
    labels: ['policy', 'threshold'],
  })
  readonly #lostUnits = new CounterMetric({
    name: 'sluice_quota_lost_units_total',
    help: 'Units that passed while the database did not answer, and that no process could keep.',
  })
  readonly #names = new LabelBound(MAX_NAMES)

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    if (name === 'sync') this.#sync(data)
    else if (name === 'quota') this.#quota(data)
  }

  *metrics(): Iterable<Metric> {
    yield* this.#failing.metrics()
    yield* this.#events.metrics()
    yield* this.#notices.metrics()
    yield* this.#lostUnits.metrics()
  }

  /** Those that something happened to: none where nothing is shared and no quota is watched. */
  happened(): readonly Metric[] {
    return [...this.metrics()].filter(({ samples }) => samples.some((sample) => 'value' in sample && sample.value > 0))
  }

  #sync(data: Readonly<Record<string, unknown>>): void {
    const topic = this.#names.of(data.topic)
    if (data.failed !== undefined) {
      this.#failing.set(data.failed === false ? 0 : 1, topic)
      this.#events.add(1, topic, data.failed === false ? 'recovered' : 'failed')
    }
    for (const told of TOLD) if (data[told] !== undefined) this.#events.add(1, topic, told)
  }

  #quota({ policy, threshold, lost }: Readonly<Record<string, unknown>>): void {
    if (lost !== undefined) this.#lostUnits.add(amountOf(lost))
    else this.#notices.add(1, this.#names.of(policy), threshold === 100 ? '100' : '80')
  }
}
