import type { Metric, MetricSource } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { oneOf } from '../options/options.ts'
import { FamilyText } from './family-text.ts'
import { metricName } from './metric-names.ts'
import { checkedSources } from './metrics.ts'

const TYPES = ['counter', 'gauge', 'histogram'] as const
const OF_HISTOGRAMS = ['', '_bucket', '_sum', '_count']

/**
 * Formats all metrics of the sources in the Prometheus text format 0.0.4, in the order in which they first appear,
 * each with one header; the first `help` counts. Serve it as `text/plain; version=0.0.4; charset=utf-8`. Throws
 * `SLUICE_BAD_OPTION` for what the format cannot express: one name with two types, two samples with equal labels,
 * invalid names and values.
 */
export function prometheusText(...sources: readonly MetricSource[]): string {
  const families = new Map<string, FamilyText>()
  const owners = new Map<string, string>()
  for (const source of checkedSources(sources)) {
    for (const metric of source.metrics()) {
      const name = metricName('metric: name', metric.name)
      const family = families.get(name) ?? newFamily(metric, owners)
      families.set(name, family)
      family.add(metric)
    }
  }
  return Array.from(families.values(), (family) => family.text()).join('')
}

/** `owners`: which metric has which names of samples. */
function newFamily(metric: Metric, owners: Map<string, string>): FamilyText {
  const type = oneOf(`metric '${metric.name}': type`, metric.type, TYPES)
  for (const suffix of type === 'histogram' ? OF_HISTOGRAMS : ['']) {
    const sample = `${metric.name}${suffix}`
    const owner = owners.get(sample)
    if (owner !== undefined) {
      const got = `got samples named ${sample}, expected others than those of metric '${owner}'`
      throw new SluiceError('SLUICE_BAD_OPTION', `metric '${metric.name}': ${got}`)
    }
    owners.set(sample, metric.name)
  }
  return new FamilyText(metric)
}
