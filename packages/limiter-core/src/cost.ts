import { SluiceError, shown } from './errors.ts'

/**
 * Whole units of a cost: a fraction of a unit is a unit. Throws `SLUICE_BAD_COST` for NaN, Infinity, anything below 0
 * and anything above 2^53 - 1, where sums of units are no longer exact.
 */
export function wholeCost(value: unknown): number {
  if (typeof value === 'number' && value >= 0) {
    const units = Math.ceil(value)
    if (units <= Number.MAX_SAFE_INTEGER) return units + 0
  }
  throw new SluiceError('SLUICE_BAD_COST', `cost: got ${shown(value)}, expected a number from 0 to 2^53 - 1`)
}

/** Whole units of a charge, which may be negative: away from zero for charges, towards zero for refunds. */
export function wholeUnitsMoved(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(Math.ceil(value))) return Math.ceil(value) + 0
  throw new SluiceError('SLUICE_BAD_COST', `units: got ${shown(value)}, expected a number between -2^53 and 2^53`)
}
