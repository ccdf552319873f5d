/** A source of metrics. Metrics are computed when they are read, for example by a Prometheus scrape. */
export interface MetricSource {
  /** Returns the current metrics. */
  metrics(): Iterable<Metric>
}

/** A counter, gauge or histogram, distinguished by `type`. */
export type Metric = ValueMetric | BucketMetric

export interface ValueMetric extends MetricHead {
  readonly type: 'counter' | 'gauge'
  readonly samples: readonly ValueSample[]
}

export interface BucketMetric extends MetricHead {
  readonly type: 'histogram'
  readonly samples: readonly BucketSample[]
}

interface MetricHead {
  /** ASCII letters, digits, `_` and `:`, not starting with a digit. Names of counters end in `_total` by convention. */
  readonly name: string
  /** Description of the metric for its readers; any string. */
  readonly help: string
}

export interface ValueSample {
  readonly labels: MetricLabels
  readonly value: number
}

export interface BucketSample {
  readonly labels: MetricLabels
  /** Buckets by ascending upper bound. The bucket of Infinity may be omitted: it contains `count` values. */
  readonly buckets: readonly MetricBucket[]
  /** Sum of all values. */
  readonly sum: number
  /** Number of all values. */
  readonly count: number
}

export interface MetricBucket {
  readonly upperBound: number
  /** Number of values up to and including `upperBound`, including the values of all smaller buckets. */
  readonly count: number
}

/**
 * Label values by name. Values may be any string. Names consist of ASCII letters, digits and `_`, and must not start
 * with a digit or `__`.
 */
export type MetricLabels = Readonly<Record<string, string>>
