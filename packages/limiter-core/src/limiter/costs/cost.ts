import { SluiceError } from '../../errors/errors.ts'
import { shown } from '../../errors/shown.ts'

/**
 * Converts a cost to an integer; fractions are rounded up. Throws `SLUICE_BAD_COST` for NaN, Infinity, negative
 * numbers and numbers above 2^53 - 1, where sums are no longer exact.
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
 * Returns the units of a charge or, if negative, of a refund, rounded up: charges away from zero, refunds towards
 * zero. Throws `SLUICE_BAD_COST` unless the result is a safe integer.
 */
export function integerUnits(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(Math.ceil(value))) return Math.ceil(value) + 0
  throw new SluiceError(
    'SLUICE_BAD_COST',
    `units: expected a number between -2^53 and 2^53, received ${shown(value, 'units')}`,
  )
}
