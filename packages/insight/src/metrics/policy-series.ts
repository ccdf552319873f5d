import type { CounterMetric, CounterSeries } from '@sluice/fleet/metrics'
import type { LabelBound } from './label-bound.ts'

/**
 * Series of one policy on one route. All outcomes are created at once, so that Prometheus sees the first denial as an
 * increase from 0.
 */
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
  /** Value of the `policy` label. */
  readonly policy: string
  readonly decisions: CounterMetric
  readonly nearLimit: CounterMetric
  readonly unitsCharged: CounterMetric
  readonly unitsRefunded: CounterMetric
  readonly routes: LabelBound
}

/** Series of one policy. Lookups do not allocate. */
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

  /** Returns the series of a route. An unknown route has an empty label. */
  on(route = ''): RouteSeries {
    return this.#routes.get(route) ?? this.#bounded(route)
  }

  #bounded(route: string): RouteSeries {
    const { decisions, policy, routes } = this.#options
    // the empty label does not count against the limit of routes
    const label = route === '' ? route : routes.of(route)
    let series = this.#routes.get(label)
    if (series === undefined) {
      series = new RouteSeries(decisions, policy, label)
      this.#routes.set(label, series)
    }
    return series
  }
}
