import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import { CounterMetric, HistogramMetric } from '@sluice/metrics'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { DELAY_MS, MAX_NAMES } from './metric-limits.ts'

/** Metrics of requests apart from decisions: delays, keys replaced by the client address, and failed callbacks. */
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

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    if (name === 'slowed') this.#slow(data)
    else if (name === 'keyFallback') this.#fallbacks.add(1, this.#labelValues.of(data.reason))
    else if (name === 'hookFailed') this.#hookFailures.add(1, this.#labelValues.of(data.hook))
  }

  *metrics(): Iterable<Metric> {
    yield* this.#slowed.metrics()
    yield* this.#delayMs.metrics()
    yield* this.#fallbacks.metrics()
    yield* this.#hookFailures.metrics()
  }

  #slow({ policy, outcome, delayMs }: Readonly<Record<string, unknown>>): void {
    const name = this.#policies.of(policy)
    this.#slowed.add(1, name, this.#labelValues.of(outcome))
    if (outcome === 'waits') this.#delayMs.observe(amountOf(delayMs), name)
  }
}
