import type { Metric, ObserverEvent } from '@sluice/limiter-core'
import { type BreakerState, CounterMetric, GaugeMetric, HistogramMetric } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import { amountOf } from './event-data.ts'
import { LabelBound } from './label-bound.ts'
import { ANSWER_MS, MAX_NAMES } from './metric-limits.ts'

const STATES: readonly BreakerState[] = ['closed', 'open', 'half-open']
/** Codes of clients and servers are few; a message in the place of one has blanks. */
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/

/** How backends answer: how fast, what fails, and whether a breaker is open. */
export class BackendMetrics implements InsightPart {
  readonly #answerMs = new HistogramMetric({
    name: 'sluice_backend_answer_ms',
    help: 'How long callers waited for a backend that did not answer at once, in milliseconds.',
    labels: ['backend'],
    buckets: ANSWER_MS,
  })
  readonly #failures = new CounterMetric({
    name: 'sluice_backend_failures_total',
    help: 'Calls of a backend that failed, by cause.',
    labels: ['backend', 'cause'],
  })
  readonly #states = new GaugeMetric({
    name: 'sluice_breaker_state',
    help: '1 for the state that the breaker of a backend took last, 0 for the others.',
    labels: ['backend', 'state'],
  })
  readonly #changes = new CounterMetric({
    name: 'sluice_breaker_changes_total',
    help: 'How often the breaker of a backend took a state.',
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
