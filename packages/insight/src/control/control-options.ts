import { badOption, checkedUnits, optionalFunction, optionsOf } from '@sluice/limiter-core/backend'
import type { ControlOptions } from './control.ts'

/** Checks the options. Throws `SLUICE_BAD_OPTION`, or `SLUICE_BAD_LIMIT` for a bound that is not a valid limit. */
export function checkControl(options: ControlOptions): void {
  const { limits = {}, audit } = optionsOf('createInsight: control', options, ['limits', 'audit'])
  optionalFunction('createInsight: control.audit', audit)
  if (typeof limits !== 'object' || limits === null) {
    throw badOption('createInsight: control.limits', limits, 'an object with { min, max } for each policy name')
  }
  for (const bounds of Object.values(limits)) {
    const { min, max } = optionsOf('createInsight: control.limits', bounds, ['min', 'max'])
    const isInOrder =
      checkedUnits(min, 'createInsight: control.limits: min') <= checkedUnits(max, 'createInsight: control.limits: max')
    if (!isInOrder) throw badOption('createInsight: control.limits: max', max, `an integer of at least min (${min})`)
  }
}
