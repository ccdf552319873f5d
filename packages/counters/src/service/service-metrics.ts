import type { Metric, MetricSource } from '@sluice/limiter-core'
import { CounterMetric, HistogramMetric } from '@sluice/limiter-core/backend'

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** How many requests a service answered, and how long they took. */
export class ServiceMetrics implements MetricSource {
  readonly #requests = new CounterMetric({
    name: 'sluice_counters_http_requests_total',
    help: 'Requests to the service of counters, by route and status; closed: its client left before the answer.',
    labels: ['route', 'status'],
  })
  readonly #seconds = new HistogramMetric({
    name: 'sluice_counters_http_request_seconds',
    help: 'From the head of a request to its answer, by route.',
    labels: ['route'],
    buckets: BUCKETS,
  })

  answered(route: string, status: string, ms: number): void {
    this.#requests.add(1, route, status)
    this.#seconds.observe(ms / 1_000, route)
  }

  *metrics(): Iterable<Metric> {
    yield* this.#requests.metrics()
    yield* this.#seconds.metrics()
  }
}
