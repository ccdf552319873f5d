import { isDeepStrictEqual } from 'node:util'
import { largestLimit } from '../matching/file-overrides.ts'
import { type CheckedPolicy, compiledWith, type PlacedLimit } from './checked-policy.ts'
import type { PlacedFinding } from './policy-finding.ts'
import type { PolicyRelations } from './policy-relations.ts'
import { areDisjoint, includes, replaces } from './request-set.ts'
import { type Strictness, strictnessOf } from './strictness.ts'

/** Returns the policies that never deny a request, whatever the traffic, and the policies that are written twice. */
export function bindingFindings(relations: PolicyRelations): PlacedFinding[] {
  return relations.policies.flatMap((policy) => {
    const finding = inactive(policy) ?? redundant(policy, relations)
    return finding === undefined ? [] : [finding]
  })
}

function inactive({ name, mode, rollout, at }: CheckedPolicy): PlacedFinding | undefined {
  const found = { rule: 'never-binds', severity: 'warning', policy: name } as const
  if (mode === 'off') return { ...found, at: [...at, 'mode'], message: `'${name}' never applies: its mode is off` }
  if (rollout > 0) return undefined
  return { ...found, at: [...at, 'rollout'], message: `'${name}' never applies: its rollout is 0%` }
}

function redundant(policy: CheckedPolicy, relations: PolicyRelations): PlacedFinding | undefined {
  // its bans have an effect even if another policy denies first
  if (policy.written.ban !== undefined) return undefined
  const including = relations.including(policy)
  return duplicate(policy, including) ?? dominated(policy, including, relations)
}

/** Reports the later one of two policies that count the same in the same window. */
function duplicate(policy: CheckedPolicy, including: readonly CheckedPolicy[]): PlacedFinding | undefined {
  // the policy counts the same as itself
  const first = including.find((other) => isSameCount(other, policy))
  if (first === undefined || first === policy) return undefined
  const { name, at } = policy
  const message = `'${name}' has the same match, key, unit and window as '${first.name}': only the smaller limit has an effect`
  return { rule: 'duplicate', severity: 'warning', policy: name, at, message }
}

function isSameCount(one: CheckedPolicy, other: CheckedPolicy): boolean {
  return (
    one.unit === other.unit &&
    one.mode === other.mode &&
    one.rollout === other.rollout &&
    one.algorithm === other.algorithm &&
    one.written.per === other.written.per &&
    one.key.join('\n') === other.key.join('\n') &&
    isDeepStrictEqual(one.written.cost ?? 1, other.written.cost ?? 1) &&
    includes(one.written, other.written) &&
    includes(other.written, one.written)
  )
}

/** Reports a policy if another policy denies first, whenever the policy would deny. */
function dominated(
  policy: CheckedPolicy,
  including: readonly CheckedPolicy[],
  relations: PolicyRelations,
): PlacedFinding | undefined {
  const place = relations.placeOf(policy)
  for (const other of including) {
    // reported as a duplicate, unless it has bans of its own
    if (other === policy || isSameCount(other, policy)) continue
    const strictness = strictnessBetween(other, policy, relations)
    // of two policies that deny the same requests, the later one is reported
    const isReported = relations.placeOf(other) < place || strictnessBetween(policy, other, relations) === undefined
    if (strictness !== undefined && isReported) return dominatedBy(other, policy, strictness)
  }
  return undefined
}

function dominatedBy(strict: CheckedPolicy, { name, at }: CheckedPolicy, strictness: Strictness): PlacedFinding {
  const most = largestLimit(strict.limits)
  const limit = `its limit of ${most.toLocaleString('en')} ${strict.unit} per ${strict.written.per}`
  const reason = `'${strict.name}' applies to all its requests, and ${limit}`
  const finding = { rule: 'never-binds', policy: name, at: [...at, 'limit'] } as const
  if (strictness === 'always') {
    const message = `'${name}' never denies a request: ${reason} is always reached first`
    return { ...finding, severity: 'warning', message }
  }
  const message = `'${name}' hardly denies a request: ${reason} is not larger; only their windows begin at other times`
  return { ...finding, severity: 'hint', message }
}

/** Returns how the first policy denies before the second one; undefined if the second one can deny first. */
function strictnessBetween(
  strict: CheckedPolicy,
  lenient: CheckedPolicy,
  relations: PolicyRelations,
): Strictness | undefined {
  if (!countsAtLeast(strict, lenient)) return undefined
  // the usual case, and a policy may have thousands of replacers
  if (replaces(lenient, strict)) return undefined
  if (relations.replacersOf(strict).some((other) => !areDisjoint(other.written, lenient.written))) return undefined
  const isSameTraffic =
    strict.key.length === lenient.key.length &&
    includes(lenient.written, strict.written) &&
    relations.replacersOf(lenient).length === 0
  const all = limitPairs(strict, lenient).map((limits) => strictnessWith(strict, lenient, limits, isSameTraffic))
  if (all.includes(undefined)) return undefined
  return all.includes('nearly') ? 'nearly' : 'always'
}

/** Whether a policy is always enforced, and counts at least the requests of another policy that it does not replace. */
function countsAtLeast(strict: CheckedPolicy, lenient: CheckedPolicy): boolean {
  const { mode, rollout, unit, key, written } = strict
  return (
    mode === 'enforce' &&
    rollout === 1 &&
    unit === lenient.unit &&
    key.every((attribute) => lenient.key.includes(attribute)) &&
    includes(written, lenient.written) &&
    !replaces(strict, lenient) &&
    isDeepStrictEqual(written.cost ?? 1, lenient.written.cost ?? 1)
  )
}

/** Returns the pairs of limits that can apply to one request: the largest and the smallest, or those of each plan. */
function limitPairs(strict: CheckedPolicy, lenient: CheckedPolicy): (readonly [number, number])[] {
  const hasOverrides = strict.overrides.length + lenient.overrides.length > 0
  const pairs = strict.limits.flatMap(({ plan, limit }) =>
    lenient.limits.filter((other) => other.plan === plan).map((other) => [limit, other.limit] as const),
  )
  const isByPlan = pairs.length === strict.limits.length && pairs.length === lenient.limits.length
  if (isByPlan && !hasOverrides) return pairs
  const largest = largestLimit([...strict.limits, ...strict.overrides])
  const smallest = smallestLimit([...lenient.limits, ...lenient.overrides])
  return [[largest, smallest]]
}

function smallestLimit(limits: readonly PlacedLimit[]): number {
  return limits.reduce((smallest, { limit }) => Math.min(smallest, limit), Number.POSITIVE_INFINITY)
}

function strictnessWith(
  strict: CheckedPolicy,
  lenient: CheckedPolicy,
  [limit, other]: readonly [number, number],
  isSameTraffic: boolean,
): Strictness | undefined {
  // units that are settled after the response are charged without a check, so that no bound holds for other traffic
  const isSettled = typeof strict.written.cost === 'object'
  if (isSettled && (!isSameTraffic || strict.written.per !== lenient.written.per)) return undefined
  try {
    return strictnessOf(compiledWith(strict, limit), compiledWith(lenient, other), isSameTraffic)
  } catch {
    // a limiter refuses one of them, which is reported separately
    return undefined
  }
}
