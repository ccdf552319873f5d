import { badOption, checkedUnits, optionalFunction, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import type { ControlOptions } from './control.ts'

const OPTIONS = ['limits', 'caps', 'enforce', 'audit', 'store'] as const

/**
 * Checks the options. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_LIMIT` for a bound that is not a valid limit, and
 * `SLUICE_SECRET_MISSING` for a store without a secret.
 */
export function checkControl(options: ControlOptions, secret: string | undefined): void {
  const { limits, caps, enforce = [], audit, store } = optionsOf('createInsight: control', options, OPTIONS)
  optionalFunction('createInsight: control.audit', audit)
  if (store !== undefined && (typeof store?.put !== 'function' || typeof store.all !== 'function')) {
    throw badOption('createInsight: control.store', store, 'a store such as redisRecords(client)')
  }
  if (store !== undefined && secret === undefined) {
    const message = 'createInsight: secret: expected a string (it encrypts stored changes), received undefined'
    throw new SluiceError('SLUICE_SECRET_MISSING', message)
  }
  if (!Array.isArray(enforce) || enforce.some((name) => typeof name !== 'string')) {
    throw badOption('createInsight: control.enforce', enforce, 'an array of policy names')
  }
  checkBounds('limits', limits)
  checkBounds('caps', caps)
}

function checkBounds(option: 'limits' | 'caps', all: ControlOptions['limits'] = {}): void {
  const owner = `createInsight: control.${option}`
  if (typeof all !== 'object' || all === null) throw badOption(owner, all, 'an object with { min, max } for each name')
  for (const [name, bounds] of Object.entries(all)) {
    const place = `${owner}.${name}`
    if (typeof bounds !== 'object' || Array.isArray(bounds)) throw badOption(place, bounds, '{ min, max }')
    const { min, max } = optionsOf(place, bounds, ['min', 'max'])
    const isInOrder = checkedUnits(min, `${place}: min`) <= checkedUnits(max, `${place}: max`)
    if (!isInOrder) throw badOption(`${place}: max`, max, `an integer of at least min (${min})`)
  }
}
