import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import { CounterMetric } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { MAX_NAMES } from './metric-limits.ts'

/** What limits in memory had no room for, what caps over sketches cannot tell apart, and what came too late. */
export class MemoryMetrics implements InsightPart {
  readonly #evictions = new CounterMetric({
    name: 'sluice_evictions_total',
    help: 'Keys in use that memory had no room for.',
  })
  readonly #tailKeys = new CounterMetric({
    name: 'sluice_tail_keys_total',
    help: 'Evicted keys that had used half of their limit, and are remembered in the tail.',
  })
  readonly #lateCharges = new CounterMetric({
    name: 'sluice_late_charges_total',
    help: 'Charges of which a part found no window any more.',
    labels: ['policy'],
  })
  readonly #lateUnits = new CounterMetric({
    name: 'sluice_late_charge_units_total',
    help: 'Units of late charges that are counted nowhere.',
    labels: ['policy'],
  })
  readonly #saturated = new CounterMetric({
    name: 'sluice_saturated_total',
    help: 'Reports of a cap over a sketch in which one key in a hundred meets others.',
    labels: ['cap'],
  })
  readonly #names = new LabelBound(MAX_NAMES)

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    if (name === 'evicted') this.#evictions.add(amountOf(data.added))
    else if (name === 'tail') this.#tailKeys.add(amountOf(data.added))
    else if (name === 'saturated') this.#saturated.add(1, this.#names.of(data.cap))
    else if (name === 'lateCharge') this.#late(this.#names.of(data.policy), amountOf(data.units))
  }

  *metrics(): Iterable<Metric> {
    yield* this.#evictions.metrics()
    yield* this.#tailKeys.metrics()
    yield* this.#lateCharges.metrics()
    yield* this.#lateUnits.metrics()
    yield* this.#saturated.metrics()
  }

  #late(policy: string, units: number): void {
    this.#lateCharges.add(1, policy)
    this.#lateUnits.add(units, policy)
  }
}
