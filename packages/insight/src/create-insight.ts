import { badOption, type Clock, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { DecisionMetrics } from './decision-metrics.ts'
import { Insight } from './insight.ts'
import { PRIVACIES, type Privacy } from './privacy.ts'

export interface InsightOptions {
  /** How keys are shown, wherever they are. Default: `mask`. */
  readonly privacy?: Privacy | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** Makes what limits do visible. Throws `SLUICE_BAD_OPTION`. */
export function createInsight(options: InsightOptions = {}): Insight {
  const { privacy = 'mask', clock } = optionsOf('createInsight', options, ['privacy', 'clock'])
  if (!PRIVACIES.includes(privacy)) throw badOption('createInsight: privacy', privacy, PRIVACIES.join(', '))
  clockOf(clock)
  return new Insight([new DecisionMetrics()])
}
