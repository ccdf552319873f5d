import type { WatchedCaps } from '../control/watched-caps.ts'
import type { InsightPart } from '../insight-part.ts'
import { BackendMetrics } from './backend-metrics.ts'
import { BanMetrics } from './ban-metrics.ts'
import { DecisionMetrics } from './decision-metrics.ts'
import { DeduplicatedEvents } from './events-once.ts'
import type { FleetMetrics } from './fleet-metrics.ts'
import { InflightMetrics } from './inflight-metrics.ts'
import { MemoryMetrics } from './memory-metrics.ts'
import { RequestMetrics } from './request-metrics.ts'
import type { SourceMetrics } from './source-metrics.ts'

/** Creates the parts of an insight that provide metrics, including the attached sources. */
export function metricParts(sources: SourceMetrics, fleet: FleetMetrics, caps: WatchedCaps): readonly InsightPart[] {
  const ofEvents = [new BackendMetrics(), new RequestMetrics(), new MemoryMetrics(), new BanMetrics(), fleet]
  return [new DecisionMetrics(), new InflightMetrics(() => caps.waiting()), new DeduplicatedEvents(ofEvents), sources]
}
