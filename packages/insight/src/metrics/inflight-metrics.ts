import type { Metric, ObservedCap } from '@sluice/limiter-core'
import {
  CounterMetric,
  type CounterSeries,
  GaugeMetric,
  type GaugeSeries,
  HistogramMetric,
  type HistogramSeries,
} from '@sluice/metrics'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { BOUNDED_BY_LABELS, HOLD_MS, MAX_NAMES, MAX_ROUTES } from './metric-limits.ts'

interface CapSeries {
  readonly held: GaugeSeries
  readonly limit: GaugeSeries
  readonly acquired: CounterSeries
  readonly holdMs: HistogramSeries
}

/** Metrics of the caps of this process: held and denied permits, and hold times. */
export class InflightMetrics implements InsightPart {
  readonly #held = new GaugeMetric({
    name: 'sluice_inflight_held',
    help: 'Permits currently held in this process, across all keys.',
    labels: ['cap'],
  })
  readonly #limit = new GaugeMetric({
    name: 'sluice_inflight_limit',
    help: 'Maximum number of permits per key.',
    labels: ['cap'],
  })
  readonly #acquired = new CounterMetric({
    name: 'sluice_inflight_permits_total',
    help: 'Permits acquired.',
    labels: ['cap'],
  })
  readonly #denied = new CounterMetric({
    name: 'sluice_inflight_denied_total',
    help: 'Permits denied because the cap of the key was full.',
    labels: ['cap', 'route'],
    maxSeries: BOUNDED_BY_LABELS,
  })
  readonly #holdMs = new HistogramMetric({
    name: 'sluice_inflight_hold_ms',
    help: 'Time permits were held, in milliseconds.',
    labels: ['cap'],
    buckets: HOLD_MS,
  })
  readonly #names = new LabelBound(MAX_NAMES)
  readonly #routes = new LabelBound(MAX_ROUTES)
  readonly #caps: Map<string, CapSeries> = new Map()

  permitAcquired(_key: string, cap: ObservedCap): void {
    const { held, limit, acquired } = this.#of(cap.name)
    held.add(1)
    limit.set(cap.limit)
    acquired.add()
  }

  permitReleased(_key: string, heldMs: number, cap: ObservedCap): void {
    const { held, holdMs } = this.#of(cap.name)
    // a permit acquired before the insight was attached was never added
    held.set(Math.max(0, held.value - 1))
    holdMs.observe(amountOf(heldMs))
  }

  capDenied(_key: string, cap: ObservedCap): void {
    const route = cap.request?.route ?? ''
    this.#of(cap.name).limit.set(cap.limit)
    this.#denied.add(1, this.#names.of(cap.name), route === '' ? route : this.#routes.of(route))
  }

  *metrics(): Iterable<Metric> {
    yield* this.#held.metrics()
    yield* this.#limit.metrics()
    yield* this.#acquired.metrics()
    yield* this.#denied.metrics()
    yield* this.#holdMs.metrics()
  }

  #of(name: string): CapSeries {
    return this.#caps.get(name) ?? this.#opened(this.#names.of(name))
  }

  #opened(cap: string): CapSeries {
    const found = this.#caps.get(cap)
    if (found !== undefined) return found
    const series: CapSeries = {
      held: this.#held.labels(cap),
      limit: this.#limit.labels(cap),
      acquired: this.#acquired.labels(cap),
      holdMs: this.#holdMs.labels(cap),
    }
    this.#denied.labels(cap, '')
    this.#caps.set(cap, series)
    return series
  }
}
