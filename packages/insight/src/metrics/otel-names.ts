import type { Metric, MetricLabels } from '@sluice/limiter-core'

/** A metric as OpenTelemetry has it. */
export interface OtelName {
  readonly name: string
  readonly unit: string
  /** What values are multiplied by. */
  readonly scale: number
  readonly kind: 'counter' | 'gauge' | 'upDownCounter'
}

const MS_OF_SECONDS = 0.001

// those of aspnetcore.rate_limiting.*, the only convention there is, in a namespace of ours
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
    scale: MS_OF_SECONDS,
    kind: 'counter',
  },
  sluice_slow_down_delay_ms: {
    name: 'sluice.rate_limiting.request.time_in_queue',
    unit: 's',
    scale: MS_OF_SECONDS,
    kind: 'counter',
  },
}

const ATTRIBUTES: Readonly<Record<string, string>> = {
  policy: 'sluice.rate_limiting.policy',
  cap: 'sluice.rate_limiting.policy',
  outcome: 'sluice.rate_limiting.result',
  route: 'http.route',
}

/** `sluice_backend_answer_ms` is `sluice.backend_answer` in `ms`; names that are not ours stay. */
export function otelName({ name, type }: Metric): OtelName {
  const named = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined
  if (named !== undefined) return named
  const short = name.replace(/^sluice_/, 'sluice.').replace(/_(total|ms)$/, '')
  const unit = name.endsWith('_ms') ? 'ms' : '1'
  return { name: short, unit, scale: 1, kind: type === 'gauge' ? 'gauge' : 'counter' }
}

/** An empty label is none. */
export function otelAttributes(labels: MetricLabels): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const [name, value] of Object.entries(labels)) {
    if (value !== '') attributes[Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : name] = value
  }
  return attributes
}
