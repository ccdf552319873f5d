import { badOption, joinedKey, type MetricLabels, SluiceError } from '@sluice/limiter-core/backend'
import { labelName, metricName, stringOf } from './metric-names.ts'

export interface MetricOptions {
  /**
   * ASCII letters, digits, `_` and `:`, not starting with a digit. By convention, names of counters end in `_total`.
   */
  readonly name: string
  readonly help: string
  /** Names of the labels. Default: none; the metric then has a single series. */
  readonly labels?: readonly string[] | undefined
  /**
   * Maximum number of series, an integer of at least 1. Further sets of label values are counted in one additional
   * series whose label values are all `other`. Default: 1,000.
   */
  readonly maxSeries?: number | undefined
}

export const METRIC_OPTIONS: readonly (keyof MetricOptions)[] = ['name', 'help', 'labels', 'maxSeries']

const MAX_SERIES = 1000
const OTHER = 'other'

/** The series of one metric, one per set of label values. A series is created when it is first requested. */
export class SeriesTable<S> {
  readonly name: string
  readonly help: string
  readonly #labels: readonly string[]
  readonly #maxSeries: number
  readonly #make: () => S
  readonly #others: readonly string[]
  readonly #series: Map<string, readonly [MetricLabels, S]> = new Map()

  constructor({ name, help, labels = [], maxSeries = MAX_SERIES }: MetricOptions, make: () => S) {
    this.name = metricName('metric: name', name)
    this.help = stringOf(`${this.owner}: help`, help)
    this.#labels = checkedLabels(this.owner, labels)
    if (!Number.isSafeInteger(maxSeries) || maxSeries < 1) {
      throw badOption(`${this.owner}: maxSeries`, maxSeries, 'an integer of at least 1')
    }
    this.#maxSeries = maxSeries
    this.#make = make
    this.#others = this.#labels.map(() => OTHER)
    // a metric without labels starts with a series of value 0, so that its first increase is visible
    if (this.#labels.length === 0) this.of([])
  }

  /** Subject of error messages. */
  get owner(): string {
    return `metric '${this.name}'`
  }

  /** Returns the series with these label values, or the series `other` if there are too many. */
  of(values: readonly string[]): S {
    const key = values.length === 1 ? values[0] : joinedKey(...values)
    const found = this.#series.get(key)
    // a wrong number of values may give the key of another series
    if (found !== undefined && values.length === this.#labels.length) return found[1]
    this.#check(values)
    const isFull = this.#series.size >= this.#maxSeries && values.some((value) => value !== OTHER)
    return isFull ? this.of(this.#others) : this.#add(key, values)
  }

  /** Returns one sample per series. */
  samples<T>(sampleOf: (series: S, labels: MetricLabels) => T): T[] {
    return Array.from(this.#series.values(), ([labels, series]) => sampleOf(series, labels))
  }

  #add(key: string, values: readonly string[]): S {
    const labels = Object.fromEntries(this.#labels.map((name, index) => [name, values[index]]))
    const series = this.#make()
    this.#series.set(key, [labels, series])
    return series
  }

  #check(values: readonly string[]): void {
    if (values.length !== this.#labels.length) {
      const expected = this.#labels.length === 0 ? 'none' : `${this.#labels.length} (${this.#labels.join(', ')})`
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `${this.owner}: label values: expected ${expected}, received ${values.length}`,
      )
    }
    for (const [index, value] of values.entries()) stringOf(`${this.owner}: label ${this.#labels[index]}`, value)
  }
}

function checkedLabels(owner: string, labels: readonly string[]): readonly string[] {
  if (!Array.isArray(labels)) throw badOption(`${owner}: labels`, labels, 'an array of names')
  for (const [index, name] of labels.entries()) {
    labelName(owner, name)
    if (labels.indexOf(name) < index) throw badOption(`${owner}: label name`, name, 'unique names')
  }
  return [...labels]
}
