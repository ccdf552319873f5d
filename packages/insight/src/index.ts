export type {
  CapHandle,
  Decision,
  Metric,
  ObservedCap,
  ObservedLimiter,
  ObservedRequest,
  Observer,
  ObserverEvent,
  Policy,
} from '@sluice/limiter-core'
export type {
  AuditLine,
  ControlAction,
  ControlEntry,
  ControlledMode,
  ControlOptions,
  ControlRequest,
  ControlTerms,
  LimitBounds,
} from './control/control.ts'
export { createInsight, type InsightOptions } from './create-insight.ts'
export type { ExpectedDecision, Explanation, PolicyExplanation } from './explain/explanation.ts'
export type { ExplainOptions, Insight } from './insight.ts'
export type { BanSnapshot } from './live/report/ban-snapshot.ts'
export type {
  CapPrioritySnapshot,
  CapReasonSnapshot,
  CapSnapshot,
  CapTimelineSnapshot,
  ObjectiveSnapshot,
  PercentilesSnapshot,
  ShedPrioritySnapshot,
  ShedSnapshot,
  TimelineSnapshot,
} from './live/report/cap-snapshot.ts'
export type {
  BackendSnapshot,
  CapSeriesSnapshot,
  DenialSnapshot,
  EventSnapshot,
  HistorySnapshot,
  InsightSnapshot,
  MeasuredSample,
  MovedUnitsSnapshot,
  NearestSnapshot,
  OutcomesSnapshot,
  PolicySeriesSnapshot,
  PolicySnapshot,
  ProcessSnapshot,
  RateSnapshot,
  RouteDaySnapshot,
  RouteSnapshot,
  RouteUniquesSnapshot,
  SnapshotOutcome,
  SourceSnapshot,
  TopKeySnapshot,
  UniqueDaySnapshot,
  UniquesSnapshot,
  ValuedSample,
} from './live/report/snapshot.ts'
export type { UniqueRegisters, UniqueStore } from './live/uniques/unique-store.ts'
export type { UniqueOptions } from './live/uniques/unique-summary.ts'
export { type DenialLogger, type LogObserverOptions, logObserver } from './log/log-observer.ts'
export { type OtelSpansOptions, type OtelTrace, otelSpans } from './log/otel-spans.ts'
export { metricsHandler } from './metrics/metrics-handler.ts'
export { type OtelMeter, type OtelMetricsOptions, otelMetrics } from './metrics/otel-metrics.ts'
export { type PromClientOptions, type PromClientRegister, promClientMetrics } from './metrics/prom-client-metrics.ts'
export { type Dashboard, type DashboardOptions, dashboard } from './page/dashboard.ts'
export type { FastifyPlugin, KoaMiddleware, PageHandler } from './page/page-mounts.ts'
export type { Privacy } from './privacy.ts'
