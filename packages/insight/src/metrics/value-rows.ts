import type { BucketSample, Metric, MetricLabels } from '@sluice/limiter-core'

/** One number of a metric. `part`: which one of a histogram, empty for others. */
export interface ValueRow {
  readonly part: '' | 'bucket' | 'sum' | 'count'
  readonly labels: MetricLabels
  readonly value: number
  /** The upper bound of a bucket, Infinity for that of all values. */
  readonly upperBound?: number
}

/** The numbers of a metric, one by one. */
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
