import { CounterMetric } from '@sluice/fleet/metrics'
import type { Metric, MetricSource } from '@sluice/limiter-core'
import { badOption } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'

/** Metrics of the attached sources. A source that throws is left out of that reading and counted as a failure. */
export class SourceMetrics implements InsightPart {
  readonly #sources: readonly MetricSource[]
  readonly #failures = new CounterMetric({
    name: 'sluice_source_failures_total',
    help: 'Metric sources that threw an error while being read.',
  })

  /** Throws `SLUICE_BAD_OPTION` if `sources` is not an array of metric sources. */
  constructor(sources: readonly MetricSource[]) {
    if (!Array.isArray(sources)) throw badOption('createInsight: sources', sources, 'an array of metric sources')
    for (const [index, source] of sources.entries()) {
      if (typeof source?.metrics === 'function') continue
      throw badOption(`createInsight: sources[${index}]`, source, 'a metric source')
    }
    this.#sources = [...new Set(sources)]
  }

  metrics(): Iterable<Metric> {
    return [...this.ofSources(), ...this.#failures.metrics()]
  }

  /** Metrics of the sources, without the failure counter. */
  ofSources(): readonly Metric[] {
    return this.#sources.flatMap((source) => this.#read(source))
  }

  #read(source: MetricSource): readonly Metric[] {
    try {
      return [...source.metrics()]
    } catch {
      this.#failures.add()
      return []
    }
  }
}
