/** A source of metrics. Metrics are computed when they are read, for example by a Prometheus scrape. */
export interface MetricSource {
  /** Returns the current metrics. */
  metrics(): Iterable<Metric>
}

/** Distinguished by `type`. */
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
  /** Letters of ASCII, digits, `_` and `:`, no digit first. That of a counter ends in `_total`, by convention. */
  readonly name: string
  /** Description for readers of the metric; any text. */
  readonly help: string
}

export interface ValueSample {
  readonly labels: MetricLabels
  readonly value: number
}

export interface BucketSample {
  readonly labels: MetricLabels
  /** Ascending. The last one, of all values, may be left out: it has `count` of them. */
  readonly buckets: readonly MetricBucket[]
  readonly sum: number
  readonly count: number
}

export interface MetricBucket {
  /** The largest value that it counts. */
  readonly upperBound: number
  /** Cumulative: all values up to `upperBound`. */
  readonly count: number
}

/**
 * Label values by name. Values may be any string. Names consist of ASCII letters, digits and `_`, and must not start
 * with a digit or `__`.
 */
export type MetricLabels = Readonly<Record<string, string>>
