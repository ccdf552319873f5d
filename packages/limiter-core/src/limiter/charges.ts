import type { Charge, Counter } from '../contracts.ts'
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
