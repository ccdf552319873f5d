import type { Charge } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import type { OpenPolicy } from './open-policy.ts'

/** A key for all policies, or one per policy name. */
export type Keys = string | Readonly<Record<string, string>>
/** A cost for all policies, or one per policy name. */
export type Costs = number | Readonly<Record<string, number>>

/**
 * Returns one charge per policy, in the order of `policies`. `checkedUnits` validates and rounds a cost. Throws
 * `SLUICE_BAD_KEY` and `SLUICE_BAD_COST`.
 */
export function chargesOf(
  policies: readonly OpenPolicy[],
  keys: Keys,
  costs: Costs,
  wholeUnits: (value: unknown) => number,
): Charge[] {
  return policies.map((open) => {
    const { name } = open.policy
    const key = typeof keys === 'string' ? keys : ownValue(keys, name, 'SLUICE_BAD_KEY', 'key')
    if (typeof key !== 'string') {
      throw new SluiceError('SLUICE_BAD_KEY', `key for '${name}': expected a string, received ${kindOf(key)}`)
    }
    const cost = wholeUnits(typeof costs === 'number' ? costs : ownValue(costs, name, 'SLUICE_BAD_COST', 'cost'))
    return chargeOf(open, key, cost)
  })
}

/** Returns a charge on the counter of the key: the counter of its override, if it has one. */
export function chargeOf({ counter, overrides, mode }: OpenPolicy, key: string, cost: number): Charge {
  const counterOfKey = overrides === undefined ? counter : overrides.counterOf(key)
  return { key, counter: counterOfKey, cost, advisory: mode === 'shadow' }
}

function ownValue<T>(
  values: Readonly<Record<string, T>>,
  name: string,
  code: 'SLUICE_BAD_KEY' | 'SLUICE_BAD_COST',
  what: string,
): T {
  if (typeof values === 'object' && values !== null && Object.hasOwn(values, name)) return values[name]
  const expected = `a ${what}, or an object with a ${what} for each policy, including '${name}'`
  throw new SluiceError(code, `${what}: expected ${expected}, received ${kindOf(values)}`)
}
