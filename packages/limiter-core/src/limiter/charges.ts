import type { Charge } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import type { OpenPolicy } from './open-policy.ts'

/** One key for all policies, or one for each by name. */
export type Keys = string | Readonly<Record<string, string>>
/** One cost for all policies, or one for each by name. */
export type Costs = number | Readonly<Record<string, number>>

/** One charge for each policy. `whole` checks costs; throws `SLUICE_BAD_KEY` and `SLUICE_BAD_COST`. */
export function chargesOf(
  policies: readonly OpenPolicy[],
  keys: Keys,
  costs: Costs,
  whole: (value: unknown) => number,
): Charge[] {
  return policies.map((open) => {
    const { name } = open.policy
    const key = typeof keys === 'string' ? keys : ownValue(keys, name, 'SLUICE_BAD_KEY', 'key')
    if (typeof key !== 'string') {
      throw new SluiceError('SLUICE_BAD_KEY', `key for '${name}': expected a string, received ${kindOf(key)}`)
    }
    const cost = whole(typeof costs === 'number' ? costs : ownValue(costs, name, 'SLUICE_BAD_COST', 'cost'))
    return chargeOf(open, key, cost)
  })
}

export function chargeOf({ counter, overrides, mode }: OpenPolicy, key: string, cost: number): Charge {
  const counting = overrides === undefined ? counter : overrides.counterOf(key)
  return { key, counter: counting, cost, advisory: mode === 'shadow' }
}

function ownValue<T>(
  values: Readonly<Record<string, T>>,
  name: string,
  code: 'SLUICE_BAD_KEY' | 'SLUICE_BAD_COST',
  what: string,
): T {
  if (typeof values === 'object' && values !== null && Object.hasOwn(values, name)) return values[name]
  const expected = `one ${what}, or one for each policy, among them '${name}'`
  throw new SluiceError(code, `${what}: expected ${expected}, received ${kindOf(values)}`)
}
