import {
  CounterMetric,
  GaugeMetric,
  type GaugeSeries,
  HistogramMetric,
  type HistogramSeries,
} from '@sluice/fleet/metrics'
import type { CapHandle, Metric, ObservedCap } from '@sluice/limiter-core'
import type { InsightPart } from '../insight-part.ts'
import { priorityOf, reasonOf } from '../priorities.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { BOUNDED_BY_LABELS, HOLD_MS, MAX_NAMES, MAX_ROUTES } from './metric-limits.ts'

interface CapSeries {
  /** Value of the label `cap`. */
  readonly label: string
  readonly held: GaugeSeries
  readonly limit: GaugeSeries
  readonly waiting: GaugeSeries
  readonly holdMs: HistogramSeries
}

/** Metrics of the caps of this process: limits, held and denied permits, requests that wait or whose clients left, and hold times. */
export class InflightMetrics implements InsightPart {
  readonly #held = new GaugeMetric({
    name: 'sluice_inflight_held',
    help: 'Permits currently held in this process, across all keys.',
    labels: ['cap'],
  })
  readonly #limit = new GaugeMetric({
    name: 'sluice_inflight_limit',
    help: 'Maximum number of permits per key that applies now.',
    labels: ['cap'],
  })
  readonly #waiting = new GaugeMetric({
    name: 'sluice_inflight_waiting',
    help: 'Requests that wait for a permit in this process, across all keys.',
    labels: ['cap'],
  })
  readonly #acquired = new CounterMetric({
    name: 'sluice_inflight_permits_total',
    help: 'Permits acquired, by priority of the request.',
    labels: ['cap', 'priority'],
  })
  readonly #denied = new CounterMetric({
    name: 'sluice_inflight_denied_total',
    help: 'Permits denied because the cap of the key was full.',
    labels: ['cap', 'route'],
    maxSeries: BOUNDED_BY_LABELS,
  })
  readonly #deniedByPriority = new CounterMetric({
    name: 'sluice_inflight_denied_by_priority_total',
    help: 'Permits denied, by priority of the request and reason.',
    labels: ['cap', 'priority', 'reason'],
    maxSeries: BOUNDED_BY_LABELS,
  })
  readonly #left = new CounterMetric({
    name: 'sluice_inflight_left_total',
    help: 'Requests whose client left before they received a permit or a denial, by priority.',
    labels: ['cap', 'priority'],
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
  readonly #readWaiting: () => ReadonlyMap<string, number>

  /** `readWaiting` returns the number of requests that wait, by cap. */
  constructor(readWaiting: () => ReadonlyMap<string, number>) {
    this.#readWaiting = readWaiting
  }

  capOpened(cap: CapHandle): void {
    this.#of(cap.name).limit.set(cap.limit)
  }

  permitAcquired(_key: string, cap: ObservedCap): void {
    const { label, held, limit } = this.#of(cap.name)
    held.add(1)
    limit.set(cap.limit)
    this.#acquired.add(1, label, priorityOf(cap.priority))
  }

  permitReleased(_key: string, heldMs: number, cap: ObservedCap): void {
    const { held, holdMs } = this.#of(cap.name)
    // a permit acquired before the insight was attached was never added
    held.set(Math.max(0, held.value - 1))
    holdMs.observe(amountOf(heldMs))
  }

  capDenied(_key: string, cap: ObservedCap): void {
    const route = cap.request?.route ?? ''
    const { label, limit } = this.#of(cap.name)
    limit.set(cap.limit)
    this.#deniedByPriority.add(1, label, priorityOf(cap.priority), reasonOf(cap.reason))
    this.#denied.add(1, label, route === '' ? route : this.#routes.of(route))
  }

  capLeft(_key: string, cap: ObservedCap): void {
    this.#left.add(1, this.#of(cap.name).label, priorityOf(cap.priority))
  }

  *metrics(): Iterable<Metric> {
    yield* this.#held.metrics()
    yield* this.#limit.metrics()
    this.#countWaiting()
    yield* this.#waiting.metrics()
    yield* this.#acquired.metrics()
    yield* this.#denied.metrics()
    yield* this.#deniedByPriority.metrics()
    yield* this.#left.metrics()
    yield* this.#holdMs.metrics()
  }

  #countWaiting(): void {
    for (const { waiting } of this.#caps.values()) waiting.set(0)
    for (const [name, number] of this.#readWaiting()) this.#of(name).waiting.add(number)
  }

  #of(name: string): CapSeries {
    return this.#caps.get(name) ?? this.#opened(this.#names.of(name))
  }

  #opened(cap: string): CapSeries {
    const found = this.#caps.get(cap)
    if (found !== undefined) return found
    const series: CapSeries = {
      label: cap,
      held: this.#held.labels(cap),
      limit: this.#limit.labels(cap),
      waiting: this.#waiting.labels(cap),
      holdMs: this.#holdMs.labels(cap),
    }
    // Prometheus sees the first permit, the first denial and the first client that leaves as an increase from 0
    this.#acquired.labels(cap, 'normal')
    this.#denied.labels(cap, '')
    this.#left.labels(cap, 'normal')
    this.#caps.set(cap, series)
    return series
  }
}
