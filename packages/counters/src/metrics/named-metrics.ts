import { Metrics } from '@sluice/fleet/metrics'
import type { MetricSource } from '@sluice/limiter-core'

/** Combines the metrics of the counters with the same name. */
export function namedMetrics(name: string, sources: readonly MetricSource[]): Metrics {
  return new Metrics(sources, { prefix: 'sluice_counters_', labels: { counters: name } })
}
