import type { Metric, MetricLabels } from '@sluice/limiter-core'

/** Name, unit and kind of a metric in OpenTelemetry. */
export interface OtelName {
  readonly name: string
  readonly unit: string
  /** Factor that converts values to `unit`. */
  readonly scale: number
  readonly kind: 'counter' | 'gauge' | 'upDownCounter'
}

const SECONDS_PER_MS = 0.001

// modelled on aspnetcore.rate_limiting.*, the only existing semantic convention, in our own namespace
const NAMED: Readonly<Record<string, OtelName>> = {
  sluice_decisions_total: { name: 'sluice.rate_limiting.requests', unit: '{request}', scale: 1, kind: 'counter' },
  sluice_inflight_held: {
    name: 'sluice.rate_limiting.active_request_leases',
    unit: '{request}',
    scale: 1,
    kind: 'upDownCounter',
  },
  sluice_inflight_hold_ms: {
    name: 'sluice.rate_limiting.request_lease.duration',
    unit: 's',
    scale: SECONDS_PER_MS,
    kind: 'counter',
  },
  sluice_inflight_waiting: {
    name: 'sluice.rate_limiting.queued_requests',
    unit: '{request}',
    scale: 1,
    kind: 'upDownCounter',
  },
  sluice_slow_down_delay_ms: {
    name: 'sluice.rate_limiting.request.time_in_queue',
    unit: 's',
    scale: SECONDS_PER_MS,
    kind: 'counter',
  },
}

const ATTRIBUTES: Readonly<Record<string, string>> = {
  policy: 'sluice.rate_limiting.policy',
  cap: 'sluice.rate_limiting.policy',
  outcome: 'sluice.rate_limiting.result',
  route: 'http.route',
}

/**
 * Returns the OpenTelemetry name: `sluice_backend_answer_ms` becomes `sluice.backend_answer` with unit `ms`. Names
 * without the `sluice_` prefix keep their prefix.
 */
export function otelName({ name, type }: Metric): OtelName {
  const named = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined
  if (named !== undefined) return named
  const short = name.replace(/^sluice_/, 'sluice.').replace(/_(total|ms)$/, '')
  const unit = name.endsWith('_ms') ? 'ms' : '1'
  return { name: short, unit, scale: 1, kind: type === 'gauge' ? 'gauge' : 'counter' }
}

/** Converts labels to attributes. Empty labels are left out. */
export function otelAttributes(labels: MetricLabels): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const [name, value] of Object.entries(labels)) {
    if (value !== '') attributes[Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : name] = value
  }
  return attributes
}
