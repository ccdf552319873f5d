import type { Charge, Counter } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import { type Costs, ownValue, unitsOf } from './costs/costs.ts'
import type { OpenPolicy } from './open-policy.ts'

/** A key for all policies, or one per policy name. */
export type Keys = string | Readonly<Record<string, string>>

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
    const cost = unitsOf(costs, name, wholeUnits)
    return chargeOf(open, key, cost)
  })
}

/** Returns one charge per key. Policies whose key is undefined are skipped. `limits` replace those of the policies. */
export function chargesOfEach(
  policies: readonly OpenPolicy[],
  keys: readonly (string | undefined)[],
  costs: readonly number[],
  limits: readonly (number | undefined)[] | undefined,
): Charge[] {
  const charges: Charge[] = []
  for (let index = 0; index < policies.length; index++) {
    const key = keys[index]
    if (key !== undefined) charges.push(chargeOf(policies[index], key, costs[index], limits?.[index]))
  }
  return charges
}

/**
 * Returns a charge on the counter of the key: that of its override, if it has one, else that of `limit`, which must be
 * prepared. Without both, the counter of the policy's limit.
 */
export function chargeOf(open: OpenPolicy, key: string, cost: number, limit?: number): Charge {
  const { overrides, mode } = open
  const counter = overrides === undefined ? counterOf(open, limit) : overrides.counterOf(key, counterOf(open, limit))
  return { key, counter, cost, advisory: mode === 'shadow' }
}

function counterOf({ counter, counters }: OpenPolicy, limit: number | undefined): Counter {
  return limit === undefined ? counter : (counters.of(limit) ?? counter)
}
