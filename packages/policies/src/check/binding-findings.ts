import { isDeepStrictEqual } from 'node:util'
import { type CheckedPolicy, compiledWith, type PlacedLimit } from './checked-policy.ts'
import type { PlacedFinding } from './policy-finding.ts'
import { areDisjoint, includes, replaces } from './request-set.ts'
import { isAtLeastAsStrict } from './strictness.ts'

/** Returns the policies that never deny a request, whatever the traffic, and the policies that are written twice. */
export function bindingFindings(policies: readonly CheckedPolicy[]): PlacedFinding[] {
  return policies.flatMap((policy) => {
    const finding = inactive(policy) ?? duplicate(policy, policies) ?? dominated(policy, policies)
    return finding === undefined ? [] : [finding]
  })
}

function inactive({ name, mode, rollout, at }: CheckedPolicy): PlacedFinding | undefined {
  const found = { rule: 'never-binds', severity: 'warning', policy: name } as const
  if (mode === 'off') return { ...found, at: [...at, 'mode'], message: `'${name}' never applies: its mode is off` }
  if (rollout > 0) return undefined
  return { ...found, at: [...at, 'rollout'], message: `'${name}' never applies: its rollout is 0%` }
}

/** Reports the later one of two policies that count the same in the same window. */
function duplicate(policy: CheckedPolicy, policies: readonly CheckedPolicy[]): PlacedFinding | undefined {
  const first = policies.find((other) => isSameCount(other, policy))
  if (first === undefined || policies.indexOf(first) >= policies.indexOf(policy)) return undefined
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
function dominated(policy: CheckedPolicy, policies: readonly CheckedPolicy[]): PlacedFinding | undefined {
  const { name, at } = policy
  const place = policies.indexOf(policy)
  const stricter = policies.find((other, index) => {
    // reported as a duplicate
    if (other === policy || isSameCount(other, policy)) return false
    // of two policies that deny the same requests, the later one is reported
    return deniesFirst(other, policy, policies) && (index < place || !deniesFirst(policy, other, policies))
  })
  if (stricter === undefined) return undefined
  const { limits, unit, written } = stricter
  const most = Math.max(...limits.map(({ limit }) => limit))
  const message =
    `'${name}' never denies a request: '${stricter.name}' applies to all its requests, ` +
    `and its limit of ${most.toLocaleString('en')} ${unit} per ${written.per} is always reached first`
  return { rule: 'never-binds', severity: 'warning', policy: name, at: [...at, 'limit'], message }
}

function deniesFirst(strict: CheckedPolicy, lenient: CheckedPolicy, policies: readonly CheckedPolicy[]): boolean {
  const { mode, rollout, unit, key, written } = strict
  const isAlwaysEnforced = mode === 'enforce' && rollout === 1
  const countsAtLeast = unit === lenient.unit && key.every((attribute) => lenient.key.includes(attribute))
  if (!isAlwaysEnforced || !countsAtLeast || !includes(written, lenient.written)) return false
  // reported as always replaced
  if (replaces(strict, lenient)) return false
  if (!isDeepStrictEqual(written.cost ?? 1, lenient.written.cost ?? 1)) return false
  const isReplaced = policies.some((other) => replaces(other, strict) && !areDisjoint(other.written, lenient.written))
  return !isReplaced && limitPairs(strict, lenient).every(([one, other]) => isStricter(strict, one, lenient, other))
}

/** Returns the pairs of limits that can apply to one request: the largest and the smallest, or those of each plan. */
function limitPairs(strict: CheckedPolicy, lenient: CheckedPolicy): (readonly [number, number])[] {
  const hasOverrides = strict.overrides.length + lenient.overrides.length > 0
  const pairs = strict.limits.flatMap(({ plan, limit }) =>
    lenient.limits.filter((other) => other.plan === plan).map((other) => [limit, other.limit] as const),
  )
  const isByPlan = pairs.length === strict.limits.length && pairs.length === lenient.limits.length
  if (isByPlan && !hasOverrides) return pairs
  const limitsOf = (all: readonly PlacedLimit[]): number[] => all.map(({ limit }) => limit)
  const largest = Math.max(...limitsOf(strict.limits), ...limitsOf(strict.overrides))
  const smallest = Math.min(...limitsOf(lenient.limits), ...limitsOf(lenient.overrides))
  return [[largest, smallest]]
}

function isStricter(strict: CheckedPolicy, limit: number, lenient: CheckedPolicy, other: number): boolean {
  try {
    const [one, two] = [compiledWith(strict, limit), compiledWith(lenient, other)]
    // units that are settled after the response are charged without a check
    const isSettled = typeof strict.written.cost === 'object'
    return (!isSettled || one.windowMs === two.windowMs) && isAtLeastAsStrict(one, two)
  } catch {
    // a limiter refuses one of them, which is reported separately
    return false
  }
}
