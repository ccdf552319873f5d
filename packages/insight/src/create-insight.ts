import type { MetricSource } from '@sluice/limiter-core'
import { badOption, type Clock, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { Insight } from './insight.ts'
import { metricParts } from './metrics/metric-parts.ts'
import { PRIVACIES, type Privacy } from './privacy.ts'

export interface InsightOptions {
  /** How keys are shown, wherever they are. Default: `mask`. */
  readonly privacy?: Privacy | undefined
  /** Whose metrics are shown with those of the insight: quotas, synced backends, counters. Default: none. */
  readonly sources?: readonly MetricSource[] | undefined
  readonly clock?: Partial<Clock> | undefined
}

const OPTIONS = ['privacy', 'sources', 'clock'] as const

/** Makes what limits do visible. Throws `SLUICE_BAD_OPTION`. */
export function createInsight(options: InsightOptions = {}): Insight {
  const { privacy = 'mask', sources = [], clock } = optionsOf('createInsight', options, OPTIONS)
  if (!PRIVACIES.includes(privacy)) throw badOption('createInsight: privacy', privacy, PRIVACIES.join(', '))
  clockOf(clock)
  return new Insight([...metricParts(sources)])
}
