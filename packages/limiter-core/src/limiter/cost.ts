import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'

/**
 * Whole units of a cost: a fraction of a unit is a unit. Throws `SLUICE_BAD_COST` for NaN, Infinity, anything below 0
 * and anything above 2^53 - 1, where sums of units are no longer exact.
 */
export function wholeCost(value: unknown): number {
  if (typeof value === 'number' && value >= 0) {
    const units = Math.ceil(value)
    if (units <= Number.MAX_SAFE_INTEGER) return units + 0
  }
  throw new SluiceError(
    'SLUICE_BAD_COST',
    `cost: expected a number from 0 to 2^53 - 1, received ${shown(value, 'cost')}`,
  )
}

/**
 * As `wholeCost`, for a cost that a request brings along: one too large to be counted is the largest there is, since a
 * request that asks for too much must not get away with asking for more.
 */
export function wholeCostOfRequest(value: unknown): number {
  return wholeCost(typeof value === 'number' && value > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : value)
}

/** Whole units of a charge, which may be negative: away from zero for charges, towards zero for refunds. */
export function wholeUnitsMoved(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(Math.ceil(value))) return Math.ceil(value) + 0
  throw new SluiceError(
    'SLUICE_BAD_COST',
    `units: expected a number between -2^53 and 2^53, received ${shown(value, 'units')}`,
  )
}
