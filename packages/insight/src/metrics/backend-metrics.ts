import { CounterMetric, GaugeMetric, HistogramMetric } from '@sluice/fleet/metrics'
import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import type { BreakerState } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { ANSWER_MS, MAX_NAMES } from './metric-limits.ts'

const STATES: readonly BreakerState[] = ['closed', 'open', 'half-open']
/** Matches error codes. An error message contains blanks and would create unbounded label values. */
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/

/** Metrics of backends: response times, failures and circuit breaker states. */
export class BackendMetrics implements InsightPart {
  readonly #answerMs = new HistogramMetric({
    name: 'sluice_backend_answer_ms',
    help: 'Time callers waited for a backend that did not answer synchronously, in milliseconds.',
    labels: ['backend'],
    buckets: ANSWER_MS,
  })
  readonly #failures = new CounterMetric({
    name: 'sluice_backend_failures_total',
    help: 'Failed backend calls, by cause.',
    labels: ['backend', 'cause'],
  })
  readonly #states = new GaugeMetric({
    name: 'sluice_breaker_state',
    help: '1 for the last reported circuit breaker state of a backend, 0 for the other states.',
    labels: ['backend', 'state'],
  })
  readonly #changes = new CounterMetric({
    name: 'sluice_breaker_changes_total',
    help: 'Circuit breaker state changes of a backend, by new state.',
    labels: ['backend', 'state'],
  })
  readonly #names = new LabelBound(MAX_NAMES)

  backendAnswered(backend: string, tookMs: number): void {
    this.#answerMs.observe(amountOf(tookMs), this.#names.of(backend))
  }

  event(name: ObserverEvent, { backend, cause, state }: Readonly<Record<string, unknown>>): void {
    if (name === 'backendFailed') {
      this.#failures.add(1, this.#names.of(backend), typeof cause === 'string' && CODE.test(cause) ? cause : 'ERROR')
    } else if (name === 'breaker') this.#changed(this.#names.of(backend), state)
  }

  *metrics(): Iterable<Metric> {
    yield* this.#answerMs.metrics()
    yield* this.#failures.metrics()
    yield* this.#states.metrics()
    yield* this.#changes.metrics()
  }

  #changed(backend: string, state: unknown): void {
    for (const each of STATES) {
      this.#states.set(each === state ? 1 : 0, backend, each)
      this.#changes.add(each === state ? 1 : 0, backend, each)
    }
  }
}
