import { CounterMetric, GaugeMetric, HistogramMetric } from '@sluice/fleet/metrics'
import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { DELAY_MS, MAX_NAMES } from './metric-limits.ts'

/** Milliseconds after the last refusal from which the pressure is 0. Events are reported for refusals only. */
const CALM_AFTER_MS = 10_000

/** Metrics of requests apart from decisions: delays, load shedding, keys replaced by the client address, and failed callbacks. */
export class RequestMetrics implements InsightPart {
  readonly #slowed = new CounterMetric({
    name: 'sluice_slowed_total',
    help: 'Requests above the threshold of a slow-down, by outcome: waits, denied, shadow.',
    labels: ['policy', 'outcome'],
  })
  readonly #delayMs = new HistogramMetric({
    name: 'sluice_slow_down_delay_ms',
    help: 'Delay of slowed-down requests, in milliseconds.',
    labels: ['policy'],
    buckets: DELAY_MS,
  })
  readonly #shed = new CounterMetric({
    name: 'sluice_shed_total',
    help: 'Requests refused because the process was overloaded, by outcome: denied, shadow.',
    labels: ['policy', 'priority', 'signal', 'outcome'],
  })
  readonly #pressure = new GaugeMetric({
    name: 'sluice_shed_pressure',
    help: 'Pressure at the last refusal by load shedding, from 0 to 1. 0 after 10 s without a refusal.',
    labels: ['policy'],
  })
  readonly #fallbacks = new CounterMetric({
    name: 'sluice_key_fallbacks_total',
    help: 'Requests keyed by client address because their key source gave no key, by reason.',
    labels: ['reason'],
  })
  readonly #hookFailures = new CounterMetric({
    name: 'sluice_hook_failures_total',
    help: 'Application callbacks that failed, by the option that contains them.',
    labels: ['hook'],
  })
  readonly #policies = new LabelBound(MAX_NAMES)
  readonly #labelValues = new LabelBound(MAX_NAMES)
  /** Time of the last refusal by load shedding, by policy. */
  readonly #shedAt = new Map<string, number>()
  readonly #now: () => number

  constructor(now: () => number = systemClock.now) {
    this.#now = now
  }

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    if (name === 'slowed') this.#slow(data)
    else if (name === 'shed') this.#refused(data)
    else if (name === 'keyFallback') this.#fallbacks.add(1, this.#labelValues.of(data.reason))
    else if (name === 'hookFailed') this.#hookFailures.add(1, this.#labelValues.of(data.hook))
  }

  *metrics(): Iterable<Metric> {
    for (const [policy, at] of this.#shedAt) if (this.#now() - at >= CALM_AFTER_MS) this.#pressure.set(0, policy)
    yield* this.#slowed.metrics()
    yield* this.#delayMs.metrics()
    yield* this.#shed.metrics()
    yield* this.#pressure.metrics()
    yield* this.#fallbacks.metrics()
    yield* this.#hookFailures.metrics()
  }

  #slow({ policy, outcome, delayMs }: Readonly<Record<string, unknown>>): void {
    const name = this.#policies.of(policy)
    this.#slowed.add(1, name, this.#labelValues.of(outcome))
    if (outcome === 'waits') this.#delayMs.observe(amountOf(delayMs), name)
  }

  #refused({ policy, priority, signal, pressure, shadow }: Readonly<Record<string, unknown>>): void {
    const name = this.#policies.of(policy)
    const values = [name, this.#labelValues.of(priority), this.#labelValues.of(signal)]
    this.#shed.add(1, ...values, shadow === true ? 'shadow' : 'denied')
    this.#pressure.set(amountOf(pressure), name)
    this.#shedAt.set(name, this.#now())
  }
}
