import type { Decision, Metric } from '@sluice/limiter-core'
import { CounterMetric } from '@sluice/limiter-core/backend'
import type { InsightPart } from './insight.ts'

/** Decisions by policy and outcome. */
export class DecisionMetrics implements InsightPart {
  readonly #decisions = new CounterMetric({
    name: 'sluice_decisions_total',
    help: 'Decisions by policy and outcome.',
    labels: ['policy', 'outcome'],
  })

  decided(_key: string, { verdicts }: Decision): void {
    for (const { policy, allowed, shadow } of verdicts) {
      const denied = shadow ? 'shadow-denied' : 'denied'
      this.#decisions.add(1, policy.name, allowed ? 'allowed' : denied)
    }
  }

  metrics(): Iterable<Metric> {
    return this.#decisions.metrics()
  }
}
