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
