import type { Metric, MetricSource } from '@sluice/limiter-core'
import { CounterMetric, HistogramMetric } from '@sluice/limiter-core/backend'
import { BUCKETS_MS } from '../metrics/time-buckets.ts'

/** How many requests a service answered, and how long they took. */
export class ServiceMetrics implements MetricSource {
  readonly #requests = new CounterMetric({
    name: 'sluice_counters_http_requests_total',
    help: 'Requests to the service of counters, by route and status; closed: its client left before the answer.',
    labels: ['route', 'status'],
  })
  readonly #requestMs = new HistogramMetric({
    name: 'sluice_counters_http_request_ms',
    help: 'From the head of a request to its answer, by route, in milliseconds.',
    labels: ['route'],
    buckets: BUCKETS_MS,
  })

  answered(route: string, status: string, ms: number): void {
    this.#requests.add(1, route, status)
    this.#requestMs.observe(ms, route)
  }

  *metrics(): Iterable<Metric> {
    yield* this.#requests.metrics()
    yield* this.#requestMs.metrics()
  }
}
