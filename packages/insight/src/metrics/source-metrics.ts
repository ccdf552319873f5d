import type { Metric, MetricSource } from '@sluice/limiter-core'
import { badOption, CounterMetric } from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'

/** The metrics of other sources. One that throws is left out of that reading, and counted. */
export class SourceMetrics implements InsightPart {
  readonly #sources: readonly MetricSource[]
  readonly #failures = new CounterMetric({
    name: 'sluice_source_failures_total',
    help: 'Sources of metrics that threw while they were read.',
  })

  /** Throws `SLUICE_BAD_OPTION` for what is no list of sources. */
  constructor(sources: readonly MetricSource[]) {
    if (!Array.isArray(sources)) throw badOption('createInsight: sources', sources, 'an array of sources of metrics')
    for (const [index, source] of sources.entries()) {
      if (typeof source?.metrics === 'function') continue
      throw badOption(`createInsight: sources[${index}]`, source, 'a source of metrics')
    }
    this.#sources = [...new Set(sources)]
  }

  metrics(): Iterable<Metric> {
    return [...this.ofSources(), ...this.#failures.metrics()]
  }

  /** Those of the sources alone. */
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
