import { CounterMetric } from '@sluice/fleet/metrics'
import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import type { InsightPart } from '../insight-part.ts'
import { LabelBound } from './label-bound.ts'
import { MAX_NAMES } from './metric-limits.ts'

/** Metrics of bans. */
export class BanMetrics implements InsightPart {
  readonly #bans = new CounterMetric({
    name: 'sluice_bans_total',
    help: 'Bans of keys that this process began.',
    labels: ['policy'],
  })
  readonly #names = new LabelBound(MAX_NAMES)

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    if (name === 'ban') this.#bans.add(1, this.#names.of(data.policy))
  }

  metrics(): Iterable<Metric> {
    return this.#bans.metrics()
  }
}
