import {
  type BucketSample,
  badOption,
  type Metric,
  type MetricLabels,
  type MetricSource,
  optionsOf,
} from '@sluice/limiter-core/backend'
import { rejectBucketLabel } from './metric-names.ts'
import { METRIC_OPTIONS, type MetricOptions, SeriesTable } from './series-table.ts'

const imul = Math.imul

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds of the buckets: at least one, finite and ascending. A last bucket for all values is added. */
  readonly buckets: readonly number[]
}

/** A series of a histogram. Callers can keep it, so that observing a value is a single search. */
export class HistogramSeries {
  readonly #bounds: Float64Array
  /** Counts per bucket, not cumulative. The last bucket has the values above all bounds. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: Float64Array) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  /** Counts a value in the first bucket whose bound is not below it. Throws `SLUICE_BAD_OPTION` unless it is finite. */
  observe(value: number): void {
    if (!Number.isFinite(value)) throw badOption('value', value, 'a finite number')
    const bounds = this.#bounds
    let low = 0
    let left = bounds.length
    // binary search without branches on comparisons, which would be mispredicted for values in random order
    while (left > 1) {
      const half = left >>> 1
      low += imul(Number(value > bounds[low + half - 1]), half)
      left -= half
    }
    low += Number(value > bounds[low])
    this.#counts[low]++
    this.#sum += value
  }

  sample(labels: MetricLabels): BucketSample {
    let count = 0
    const buckets = Array.from(this.#bounds, (upperBound, index) => {
      count += this.#counts[index]
      return { upperBound, count }
    })
    return { labels, buckets, sum: this.#sum, count: count + this.#counts[this.#bounds.length] }
  }
}

/** The distribution of values: the number of values up to each bound, and their sum. */
export class HistogramMetric implements MetricSource {
  readonly #table: SeriesTable<HistogramSeries>

  constructor(options: HistogramOptions) {
    const { buckets, ...others } = optionsOf('HistogramMetric', options, [...METRIC_OPTIONS, 'buckets'])
    const bounds = checkedBounds(buckets)
    this.#table = new SeriesTable(others, () => new HistogramSeries(bounds))
    for (const name of others.labels ?? []) rejectBucketLabel(this.#table.owner, name)
  }

  /** Returns the series with these label values, in the order of the labels. */
  labels(...values: readonly string[]): HistogramSeries {
    return this.#table.of(values)
  }

  observe(value: number, ...labelValues: readonly string[]): void {
    this.#table.of(labelValues).observe(value)
  }

  metrics(): Iterable<Metric> {
    const { name, help } = this.#table
    return [{ name, help, type: 'histogram', samples: this.#table.samples((series, labels) => series.sample(labels)) }]
  }
}

function checkedBounds(bounds: readonly number[]): Float64Array {
  const isList = Array.isArray(bounds) && bounds.length > 0 && bounds.every((bound) => Number.isFinite(bound))
  if (!isList) throw badOption('buckets', bounds, 'an array of at least one finite number')
  const fallen = bounds.findIndex((bound, index) => index > 0 && bound <= bounds[index - 1])
  if (fallen > 0) throw badOption(`buckets[${fallen}]`, bounds[fallen], `a number above ${bounds[fallen - 1]}`)
  return Float64Array.from(bounds)
}
