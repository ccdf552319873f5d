import { CounterMetric, HistogramMetric } from '@sluice/fleet/metrics'
import type { Metric, MetricSource } from '@sluice/limiter-core'
import { BUCKETS_MS } from '../metrics/time-buckets.ts'

/** Counts the requests of a service and measures their durations. */
export class ServiceMetrics implements MetricSource {
  readonly #requests = new CounterMetric({
    name: 'sluice_counters_http_requests_total',
    help: 'Requests to the counter service, by route and status; closed: the client disconnected before the response.',
    labels: ['route', 'status'],
  })
  readonly #requestMs = new HistogramMetric({
    name: 'sluice_counters_http_request_ms',
    help: 'Time from the headers of a request to its response, by route, in milliseconds.',
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
