import type { MetricSource, Observer } from '@sluice/limiter-core'

/** Part of an insight: receives all observer calls and may provide metrics. */
export interface InsightPart extends Observer, Partial<MetricSource> {
  /** Stops timers and subscriptions of the part. */
  close?(): Promise<void>
}
