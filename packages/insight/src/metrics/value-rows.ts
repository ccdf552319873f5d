import type { BucketSample, Metric, MetricLabels } from '@sluice/limiter-core'

/** Exported number of a metric. `part` names the component of a histogram and is empty for other types. */
export interface ValueRow {
  readonly part: '' | 'bucket' | 'sum' | 'count'
  readonly labels: MetricLabels
  readonly value: number
  /** Upper bound of a bucket; Infinity for the bucket of all values. */
  readonly upperBound?: number
}

/** Flattens a metric into its exported numbers. Adds the `+Inf` bucket if a histogram lacks it. */
export function valueRows(metric: Metric): readonly ValueRow[] {
  if (metric.type === 'histogram') return metric.samples.flatMap(bucketRows)
  return metric.samples.map(({ labels, value }) => ({ part: '', labels, value }))
}

function bucketRows({ labels, buckets, sum, count }: BucketSample): readonly ValueRow[] {
  const all = { upperBound: Number.POSITIVE_INFINITY, count }
  const completed = buckets.at(-1)?.upperBound === all.upperBound ? buckets : [...buckets, all]
  const rows = completed.map(({ upperBound, count: upTo }): ValueRow => {
    return { part: 'bucket', labels, value: upTo, upperBound }
  })
  return [...rows, { part: 'sum', labels, value: sum }, { part: 'count', labels, value: count }]
}
