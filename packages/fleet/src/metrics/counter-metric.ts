import { badOption, type Metric, type MetricSource, optionsOf } from '@sluice/limiter-core/backend'
import { METRIC_OPTIONS, type MetricOptions, SeriesTable } from './series-table.ts'

/** A series of a counter. Callers can keep it, so that counting is a single addition. */
export class CounterSeries {
  #value = 0

  get value(): number {
    return this.#value
  }

  /**
   * Adds `amount`, a finite number of at least 0. Default: 1. Throws `SLUICE_BAD_OPTION` and counts nothing if the
   * amount is invalid.
   */
  add(amount = 1): void {
    const isValid = amount >= 0 && amount < Number.POSITIVE_INFINITY
    if (!isValid) throw badOption('amount', amount, 'a finite number of at least 0')
    this.#value += amount
  }
}

/** A metric whose value only increases. */
export class CounterMetric implements MetricSource {
  readonly #table: SeriesTable<CounterSeries>

  constructor(options: MetricOptions) {
    this.#table = new SeriesTable(optionsOf('CounterMetric', options, METRIC_OPTIONS), () => new CounterSeries())
  }

  /** Returns the series with these label values, in the order of the labels. */
  labels(...values: readonly string[]): CounterSeries {
    return this.#table.of(values)
  }

  /** Adds to the series with these label values. To avoid the look-up on each call, keep the result of `labels`. */
  add(amount = 1, ...labelValues: readonly string[]): void {
    this.#table.of(labelValues).add(amount)
  }

  metrics(): Iterable<Metric> {
    const { name, help } = this.#table
    const samples = this.#table.samples(({ value }, labels) => ({ labels, value }))
    return [{ name, help, type: 'counter', samples }]
  }
}
