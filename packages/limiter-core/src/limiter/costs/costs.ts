import { badValue } from '../../errors/bad-option.ts'
import { SluiceError } from '../../errors/errors.ts'
import { kindOf } from '../../errors/shown.ts'

/** A cost for all policies, or one per policy name. */
export type Costs = number | Readonly<Record<string, number>>

/** Returns the units of a policy. Throws `SLUICE_BAD_COST`. */
export function unitsOf(costs: Costs, policy: string, wholeUnits: (value: unknown) => number): number {
  return wholeUnits(typeof costs === 'number' ? costs : ownValue(costs, policy, 'SLUICE_BAD_COST', 'cost'))
}

/** Returns the value of a policy. Throws the error of `code`. */
export function ownValue<T>(
  values: Readonly<Record<string, T>>,
  name: string,
  code: 'SLUICE_BAD_KEY' | 'SLUICE_BAD_COST',
  what: string,
): T {
  if (typeof values === 'object' && values !== null && Object.hasOwn(values, name)) return values[name]
  const expected = `a ${what}, or an object with a ${what} for each policy, including '${name}'`
  throw new SluiceError(code, `${what}: expected ${expected}, received ${kindOf(values)}`)
}

/**
 * Converts a cost to an integer; fractions are rounded up. Throws `SLUICE_BAD_COST` for NaN, Infinity, negative
 * numbers and numbers above 2^53 - 1, where sums are no longer exact.
 */
export function wholeCost(value: unknown): number {
  if (typeof value === 'number' && value >= 0) {
    const units = Math.ceil(value)
    if (units <= Number.MAX_SAFE_INTEGER) return units + 0
  }
  throw badValue('SLUICE_BAD_COST', 'cost', value, 'a number from 0 to 2^53 - 1')
}

/**
 * Returns the units of a charge or, if negative, of a refund, rounded up: charges away from zero, refunds towards
 * zero. Throws `SLUICE_BAD_COST` unless the result is a safe integer.
 */
export function integerUnits(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(Math.ceil(value))) return Math.ceil(value) + 0
  throw badValue('SLUICE_BAD_COST', 'units', value, 'a number between -2^53 and 2^53')
}
