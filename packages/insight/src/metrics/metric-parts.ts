import type { MetricSource } from '@sluice/limiter-core'
import type { InsightPart } from '../insight-part.ts'
import { BackendMetrics } from './backend-metrics.ts'
import { DecisionMetrics } from './decision-metrics.ts'
import { EventsOnce } from './events-once.ts'
import { FleetMetrics } from './fleet-metrics.ts'
import { InflightMetrics } from './inflight-metrics.ts'
import { MemoryMetrics } from './memory-metrics.ts'
import { RequestMetrics } from './request-metrics.ts'
import { SourceMetrics } from './source-metrics.ts'

/** What counts in an insight, and the sources it was given. Throws `SLUICE_BAD_OPTION`. */
export function metricParts(sources: readonly MetricSource[]): readonly InsightPart[] {
  const ofEvents = [new BackendMetrics(), new RequestMetrics(), new MemoryMetrics(), new FleetMetrics()]
  return [new DecisionMetrics(), new InflightMetrics(), new EventsOnce(ofEvents), new SourceMetrics(sources)]
}
