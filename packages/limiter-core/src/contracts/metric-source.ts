/** What has metrics. They are made whenever somebody reads them, as a scrape of Prometheus does. */
export interface MetricSource {
  /** As they are now. */
  metrics(): Iterable<Metric>
}

/** Told apart by `type`. */
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
  /** A sentence for those who read it, of any text. */
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

/** A value, of any text, for each name: letters of ASCII, digits and `_`, no digit and no `__` first. */
export type MetricLabels = Readonly<Record<string, string>>
