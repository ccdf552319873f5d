import { CounterMetric } from '@sluice/fleet/metrics'
import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { MAX_NAMES } from './metric-limits.ts'

/** Metrics of in-memory limits: evictions, late charges, and sketches that are too small. */
export class MemoryMetrics implements InsightPart {
  readonly #evictions = new CounterMetric({
    name: 'sluice_evictions_total',
    help: 'Keys in use that were evicted because memory was full.',
  })
  readonly #tailKeys = new CounterMetric({
    name: 'sluice_tail_keys_total',
    help: 'Evicted keys that had used half of their limit and are still tracked in the tail.',
  })
  readonly #lateCharges = new CounterMetric({
    name: 'sluice_late_charges_total',
    help: 'Charges that arrived, at least in part, after their window had ended.',
    labels: ['policy'],
  })
  readonly #lateUnits = new CounterMetric({
    name: 'sluice_late_charge_units_total',
    help: 'Units of late charges that could not be counted.',
    labels: ['policy'],
  })
  readonly #saturated = new CounterMetric({
    name: 'sluice_saturated_total',
    help: 'Reports that the sketch of a cap is too small: one key in a hundred collides with others.',
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
