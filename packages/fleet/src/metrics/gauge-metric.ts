import { type Metric, type MetricSource, optionsOf } from '@sluice/limiter-core/backend'
import { numberOf } from './metric-names.ts'
import { METRIC_OPTIONS, type MetricOptions, SeriesTable } from './series-table.ts'

/** A series of a gauge. Callers can keep it, to avoid a look-up for each change. */
export class GaugeSeries {
  #value = 0

  get value(): number {
    return this.#value
  }

  /** Sets the value to any number, including NaN and the infinities. Throws `SLUICE_BAD_OPTION` for other types. */
  set(value: number): void {
    this.#value = numberOf('value', value)
  }

  /** Adds any number to the value; a negative one decreases it. Throws `SLUICE_BAD_OPTION` for other types. */
  add(amount: number): void {
    this.#value += numberOf('amount', amount)
  }
}

/** A metric whose value increases and decreases. */
export class GaugeMetric implements MetricSource {
  readonly #table: SeriesTable<GaugeSeries>

  constructor(options: MetricOptions) {
    this.#table = new SeriesTable(optionsOf('GaugeMetric', options, METRIC_OPTIONS), () => new GaugeSeries())
  }

  /** Returns the series with these label values, in the order of the labels. */
  labels(...values: readonly string[]): GaugeSeries {
    return this.#table.of(values)
  }

  set(value: number, ...labelValues: readonly string[]): void {
    this.#table.of(labelValues).set(value)
  }

  add(amount: number, ...labelValues: readonly string[]): void {
    this.#table.of(labelValues).add(amount)
  }

  metrics(): Iterable<Metric> {
    const { name, help } = this.#table
    const samples = this.#table.samples(({ value }, labels) => ({ labels, value }))
    return [{ name, help, type: 'gauge', samples }]
  }
}
