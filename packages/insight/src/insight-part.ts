import type { MetricSource, Observer } from '@sluice/limiter-core'

/** A part of an insight: it hears all that observers hear, and may be a source of metrics. */
export interface InsightPart extends Observer, Partial<MetricSource> {
  /** Ends what it opened. */
  close?(): Promise<void>
}
