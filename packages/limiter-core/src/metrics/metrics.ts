import type { Metric, MetricLabels, MetricSource } from '../contracts.ts'
import { badOption } from '../errors/bad-option.ts'
import { optionsOf } from '../options/options.ts'
import { labelName, metricName, textOf } from './metric-names.ts'

export interface MetricsOptions {
  /** Prefix of each name. Default: none. */
  readonly prefix?: string
  /** Labels of each sample. Default: none. */
  readonly labels?: MetricLabels
}

/** Several sources as one, instruments or others, with a prefix and labels in common. */
export class Metrics implements MetricSource {
  readonly #sources: readonly MetricSource[]
  readonly #prefix: string
  readonly #labels: MetricLabels

  constructor(sources: readonly MetricSource[], options: MetricsOptions = {}) {
    const { prefix = '', labels = {} } = optionsOf('Metrics', options, ['prefix', 'labels'])
    this.#sources = checkedSources(sources)
    this.#prefix = prefix === '' ? '' : metricName('Metrics: prefix', prefix)
    if (typeof labels !== 'object' || labels === null) throw badOption('Metrics: labels', labels, 'an object of texts')
    for (const [name, value] of Object.entries(labels)) textOf(`Metrics: label ${labelName('Metrics', name)}`, value)
    this.#labels = { ...labels }
  }

  /** Throws `SLUICE_BAD_OPTION` where a sample has one of the common labels already. */
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
      if (twice !== undefined) throw badOption(`metric '${name}': label name`, twice, 'none of the labels of all')
      return { ...sample, labels: { ...this.#labels, ...sample.labels } }
    })
  }
}

/** A copy of a list of sources; throws `SLUICE_BAD_OPTION` for anything else. */
export function checkedSources(sources: readonly MetricSource[]): readonly MetricSource[] {
  if (!Array.isArray(sources)) throw badOption('sources', sources, 'an array of sources of metrics')
  for (const [index, source] of sources.entries()) {
    if (typeof source?.metrics === 'function') continue
    throw badOption(`sources[${index}]`, source, 'a source of metrics')
  }
  return [...sources]
}
