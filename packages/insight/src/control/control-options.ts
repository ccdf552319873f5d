import { badOption, optionalFunction, optionsOf, wholeUnits } from '@sluice/limiter-core/backend'
import type { ControlOptions } from './control.ts'

/** Throws `SLUICE_BAD_OPTION`, and `SLUICE_BAD_LIMIT` for a bound that no policy can have. */
export function checkControl(options: ControlOptions): void {
  const { limits = {}, audit } = optionsOf('createInsight: control', options, ['limits', 'audit'])
  optionalFunction('createInsight: control.audit', audit)
  if (typeof limits !== 'object' || limits === null) {
    throw badOption('createInsight: control.limits', limits, 'an object of bounds by policy')
  }
  for (const bounds of Object.values(limits)) {
    const { min, max } = optionsOf('createInsight: control.limits', bounds, ['min', 'max'])
    const isInOrder =
      wholeUnits(min, 'createInsight: control.limits: min') <= wholeUnits(max, 'createInsight: control.limits: max')
    if (!isInOrder) throw badOption('createInsight: control.limits: max', max, `at least min, ${min}`)
  }
}
