import { badOption, type Metric, type MetricLabels, type MetricSource, optionsOf } from '@sluice/limiter-core/backend'
import { labelName, metricName, stringOf } from './metric-names.ts'

export interface MetricsOptions {
  /** Prefix of each metric name. Default: none. */
  readonly prefix?: string | undefined
  /** Labels that are added to each sample. Default: none. */
  readonly labels?: MetricLabels | undefined
}

/** Combines several metric sources, such as counters and gauges, under a common prefix and common labels. */
export class Metrics implements MetricSource {
  readonly #sources: readonly MetricSource[]
  readonly #prefix: string
  readonly #labels: MetricLabels

  constructor(sources: readonly MetricSource[], options: MetricsOptions = {}) {
    const { prefix = '', labels = {} } = optionsOf('Metrics', options, ['prefix', 'labels'])
    this.#sources = checkedSources(sources)
    this.#prefix = prefix === '' ? '' : metricName('Metrics: prefix', prefix)
    if (typeof labels !== 'object' || labels === null)
      throw badOption('Metrics: labels', labels, 'an object of strings')
    for (const [name, value] of Object.entries(labels)) stringOf(`Metrics: label ${labelName('Metrics', name)}`, value)
    this.#labels = { ...labels }
  }

  /** Throws `SLUICE_BAD_OPTION` if a sample already has one of the common labels. */
  *metrics(): Iterable<Metric> {
    for (const source of this.#sources) {
      for (const metric of source.metrics()) yield this.#prefixed(metric)
    }
  }

  #prefixed(metric: Metric): Metric {
    const name = `${this.#prefix}${metric.name}`
    return metric.type === 'histogram'
      ? { ...metric, name, samples: this.#labelled(name, metric.samples) }
      : { ...metric, name, samples: this.#labelled(name, metric.samples) }
  }

  #labelled<S extends { readonly labels: MetricLabels }>(name: string, samples: readonly S[]): S[] {
    return samples.map((sample) => {
      const twice = Object.keys(sample.labels).find((label) => Object.hasOwn(this.#labels, label))
      if (twice !== undefined)
        throw badOption(`metric '${name}': label name`, twice, 'a name that Metrics does not add')
      return { ...sample, labels: { ...this.#labels, ...sample.labels } }
    })
  }
}

/** Returns a copy of an array of metric sources. Throws `SLUICE_BAD_OPTION` for anything else. */
export function checkedSources(sources: readonly MetricSource[]): readonly MetricSource[] {
  if (!Array.isArray(sources)) throw badOption('sources', sources, 'an array of metric sources')
  for (const [index, source] of sources.entries()) {
    if (typeof source?.metrics === 'function') continue
    throw badOption(`sources[${index}]`, source, 'an object with a metrics() method')
  }
  return [...sources]
}
