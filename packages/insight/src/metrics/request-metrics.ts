import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import { CounterMetric, HistogramMetric } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { DELAY_MS, MAX_NAMES } from './metric-limits.ts'

/** What happens to requests beside decisions: delays, keys that were the address instead, functions that failed. */
export class RequestMetrics implements InsightPart {
  readonly #slowed = new CounterMetric({
    name: 'sluice_slowed_total',
    help: 'Requests over a slow-down, by outcome: waits, denied, shadow.',
    labels: ['policy', 'outcome'],
  })
  readonly #delayMs = new HistogramMetric({
    name: 'sluice_slow_down_delay_ms',
    help: 'How long requests wait that are slowed down, in milliseconds.',
    labels: ['policy'],
    buckets: DELAY_MS,
  })
  readonly #fallbacks = new CounterMetric({
    name: 'sluice_key_fallbacks_total',
    help: 'Requests whose address was their key as no other one came, by reason.',
    labels: ['reason'],
  })
  readonly #hookFailures = new CounterMetric({
    name: 'sluice_hook_failures_total',
    help: 'Functions of the application that failed, by the option they were given in.',
    labels: ['hook'],
  })
  readonly #policies = new LabelBound(MAX_NAMES)
  readonly #words = new LabelBound(MAX_NAMES)

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    if (name === 'slowed') this.#slow(data)
    else if (name === 'keyFallback') this.#fallbacks.add(1, this.#words.of(data.reason))
    else if (name === 'hookFailed') this.#hookFailures.add(1, this.#words.of(data.hook))
  }

  *metrics(): Iterable<Metric> {
    yield* this.#slowed.metrics()
    yield* this.#delayMs.metrics()
    yield* this.#fallbacks.metrics()
    yield* this.#hookFailures.metrics()
  }

  #slow({ policy, outcome, delayMs }: Readonly<Record<string, unknown>>): void {
    const name = this.#policies.of(policy)
    this.#slowed.add(1, name, this.#words.of(outcome))
    if (outcome === 'waits') this.#delayMs.observe(amountOf(delayMs), name)
  }
}
