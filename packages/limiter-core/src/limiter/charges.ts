import type { Charge, CountedKey, Counter } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import { type Costs, ownValue, unitsOf } from './costs/costs.ts'
import { preparedCounter } from './limit-counters.ts'
import type { OpenPolicy } from './open-policy.ts'

/** A key for all policies, or one per policy name. */
export type Keys = string | Readonly<Record<string, string>>

/**
 * Returns one charge per policy, in the order of `policies`. `wholeUnits` validates and rounds a cost. Throws
 * `SLUICE_BAD_KEY` and `SLUICE_BAD_COST`.
 */
export function chargesOf(
  policies: readonly OpenPolicy[],
  keys: Keys,
  costs: Costs,
  wholeUnits: (value: unknown) => number,
): Charge[] {
  const charges: Charge[] = []
  if (typeof keys === 'string' && typeof costs === 'number') {
    const units = wholeUnits(costs)
    for (let index = 0; index < policies.length; index++) charges.push(chargeOf(policies[index], keys, units))
    return charges
  }
  for (const open of policies) {
    const { name } = open.policy
    const key = typeof keys === 'string' ? keys : ownValue(keys, name, 'SLUICE_BAD_KEY', 'key')
    if (typeof key !== 'string') {
      throw new SluiceError('SLUICE_BAD_KEY', `key for '${name}': expected a string, received ${kindOf(key)}`)
    }
    charges.push(chargeOf(open, key, unitsOf(costs, name, wholeUnits)))
  }
  return charges
}

/** Limits and windows of one request that replace those of the policies. They are prepared. */
export interface RequestTerms {
  readonly limits?: readonly (number | undefined)[] | undefined
  readonly windows?: readonly (number | undefined)[] | undefined
}

/** Returns one charge per key. Policies whose key is undefined are skipped. */
export function chargesOfEach(
  policies: readonly OpenPolicy[],
  keys: readonly (string | undefined)[],
  costs: readonly number[],
  { limits, windows }: RequestTerms = {},
): Charge[] {
  const charges: Charge[] = []
  for (let index = 0; index < policies.length; index++) {
    const key = keys[index]
    if (key !== undefined) charges.push(chargeOf(policies[index], key, costs[index], limits?.[index], windows?.[index]))
  }
  return charges
}

/**
 * Returns a charge on the counter of the key: that of its override, if it has one, else that of `limit` and `windowMs`,
 * which must be prepared. Without all of them: the counter of the key's last request.
 */
export function chargeOf(open: OpenPolicy, key: string, cost: number, limit?: number, windowMs?: number): Charge {
  return { key, counter: counterOf(open, key, limit, windowMs), cost, advisory: open.mode === 'shadow' }
}

/** Returns the counter of a key, as for `chargeOf`. */
export function counterOf(open: OpenPolicy, key: string, limit?: number, windowMs?: number): Counter {
  const { counter, terms, overrides } = open
  const isOwn = limit === undefined && windowMs === undefined && !terms
  const other = isOwn ? counter : counterByTerms(open, key, limit, windowMs)
  return overrides ? overrides.counterOf(key, other) : other
}

/** Returns what resets the key of a charge: its counts under all windows of its policy. */
export function resetsOf(policies: readonly OpenPolicy[], { key, counter }: Charge): CountedKey[] {
  const { name } = counter.compiled.policy
  const open = policies.find(({ policy }) => policy.name === name)
  return open ? open.counters.windows.map((one) => ({ key, counter: one })) : []
}

function counterByTerms(
  { counter, counters, terms }: OpenPolicy,
  key: string,
  limit: number | undefined,
  windowMs: number | undefined,
): Counter {
  const { policy } = counter.compiled
  if (limit !== undefined || windowMs !== undefined) {
    terms?.set(key, limit, windowMs)
    return counters.of(limit ?? policy.limit, windowMs) ?? counter
  }
  const known = terms?.of(key)
  if (known === undefined) return counter
  return preparedCounter(counters, known.limit ?? policy.limit, known.windowMs ?? policy.windowMs) ?? counter
}
