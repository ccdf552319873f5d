import type { Metric, MetricSource } from '../contracts.ts'
import { badOption } from '../errors/bad-option.ts'
import { optionsOf } from '../options/options.ts'
import { METRIC_OPTIONS, type MetricOptions, SeriesTable } from './series-table.ts'

/** One series of a counter. Callers keep it, so that counting is a single addition. */
export class CounterSeries {
  #value = 0

  get value(): number {
    return this.#value
  }

  /** `amount`: finite, 0 or more; default: 1. Throws `SLUICE_BAD_OPTION` otherwise, and counts nothing. */
  add(amount = 1): void {
    if (!(amount >= 0 && amount < Number.POSITIVE_INFINITY)) throw badOption('amount', amount, 'a finite number from 0')
    this.#value += amount
  }
}

/** A number that only grows. */
export class CounterMetric implements MetricSource {
  readonly #table: SeriesTable<CounterSeries>

  constructor(options: MetricOptions) {
    this.#table = new SeriesTable(optionsOf('CounterMetric', options, METRIC_OPTIONS), () => new CounterSeries())
  }

  /** The series of these values, one for each label, in their order. */
  labels(...values: readonly string[]): CounterSeries {
    return this.#table.of(values)
  }

  /** Looks up the series on each call. If the labels are known in advance, keep the result of `labels`. */
  add(amount = 1, ...labelValues: readonly string[]): void {
    this.#table.of(labelValues).add(amount)
  }

  metrics(): Iterable<Metric> {
    const { name, help } = this.#table
    const samples = this.#table.samples(({ value }, labels) => ({ labels, value }))
    return [{ name, help, type: 'counter', samples }]
  }
}
