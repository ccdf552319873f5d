import type { CounterMetric, CounterSeries } from '@sluice/limiter-core/backend'
import type { LabelBound } from './label-bound.ts'

/** The series of one policy on one route: all of them from the start, so that a first denial is seen to be an increase. */
export class RouteSeries {
  readonly allowed: CounterSeries
  readonly denied: CounterSeries
  readonly shadowDenied: CounterSeries

  constructor(decisions: CounterMetric, policy: string, route: string) {
    this.allowed = decisions.labels(policy, 'allowed', route)
    this.denied = decisions.labels(policy, 'denied', route)
    this.shadowDenied = decisions.labels(policy, 'shadow-denied', route)
  }
}

export interface PolicySeriesOptions {
  /** As the label has it. */
  readonly policy: string
  readonly decisions: CounterMetric
  readonly nearLimit: CounterMetric
  readonly unitsCharged: CounterMetric
  readonly unitsRefunded: CounterMetric
  readonly routes: LabelBound
}

/** The series of one policy, found without an allocation. */
export class PolicySeries {
  readonly nearLimit: CounterSeries
  readonly unitsCharged: CounterSeries
  readonly unitsRefunded: CounterSeries
  readonly #options: PolicySeriesOptions
  readonly #routes: Map<string, RouteSeries> = new Map()

  constructor(options: PolicySeriesOptions) {
    this.#options = options
    this.nearLimit = options.nearLimit.labels(options.policy)
    this.unitsCharged = options.unitsCharged.labels(options.policy)
    this.unitsRefunded = options.unitsRefunded.labels(options.policy)
  }

  /** A route that is not known has an empty label, which is none. */
  on(route = ''): RouteSeries {
    return this.#routes.get(route) ?? this.#bounded(route)
  }

  #bounded(route: string): RouteSeries {
    const { decisions, policy, routes } = this.#options
    // no route takes no place of a route
    const label = route === '' ? route : routes.of(route)
    let series = this.#routes.get(label)
    if (series === undefined) {
      series = new RouteSeries(decisions, policy, label)
      this.#routes.set(label, series)
    }
    return series
  }
}
