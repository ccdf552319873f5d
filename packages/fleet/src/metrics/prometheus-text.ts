import { type Metric, type MetricSource, oneOf, SluiceError } from '@sluice/limiter-core/backend'
import { FamilyText } from './family-text.ts'
import { metricName } from './metric-names.ts'
import { checkedSources } from './metrics.ts'

const TYPES = ['counter', 'gauge', 'histogram'] as const
const HISTOGRAM_SUFFIXES = ['', '_bucket', '_sum', '_count']

/**
 * Returns all metrics of the sources in the Prometheus text format 0.0.4, in the order in which they first appear. A
 * metric of several sources has one header, with the `help` of the first source. Serve the text as `text/plain;
 * version=0.0.4; charset=utf-8`. Throws `SLUICE_BAD_OPTION` for what the format cannot express: a name with two types,
 * two samples with the same labels, and invalid names or values.
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

/** Creates the text of a metric. `owners` maps sample names to metrics; no two metrics may share a sample name. */
function newFamily(metric: Metric, owners: Map<string, string>): FamilyText {
  const type = oneOf(`metric '${metric.name}': type`, metric.type, TYPES)
  for (const suffix of type === 'histogram' ? HISTOGRAM_SUFFIXES : ['']) {
    const sample = `${metric.name}${suffix}`
    const owner = owners.get(sample)
    if (owner !== undefined) {
      const problem = `expected sample names of its own, received ${sample}, which metric '${owner}' uses`
      throw new SluiceError('SLUICE_BAD_OPTION', `metric '${metric.name}': ${problem}`)
    }
    owners.set(sample, metric.name)
  }
  return new FamilyText(metric)
}
