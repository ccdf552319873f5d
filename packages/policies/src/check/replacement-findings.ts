import type { CheckedPolicy } from './checked-policy.ts'
import type { PlacedFinding } from './policy-finding.ts'
import type { PolicyRelations } from './policy-relations.ts'
import { includes, partsOf } from './request-set.ts'

/** Returns the policies that never apply, because other policies replace them on all their requests. */
export function replacementFindings(relations: PolicyRelations): PlacedFinding[] {
  return relations.policies.flatMap((policy) => {
    const others = relations.replacersOf(policy).filter(({ rollout }) => rollout === 1)
    const replacing = replacingAll(policy, others)
    if (replacing.length === 0) return []
    const { name, at } = policy
    const names = replacing.map((other) => `'${other.name}'`).join(' and ')
    const verb = replacing.length === 1 ? 'replaces' : 'replace'
    const message = `'${name}' never applies: ${names} ${verb} it on all its requests`
    return [{ rule: 'always-replaced', severity: 'warning', policy: name, at, message }]
  })
}

/** Returns the policies that together replace a policy on all its requests; empty if a request may be left. */
function replacingAll({ written }: CheckedPolicy, others: readonly CheckedPolicy[]): CheckedPolicy[] {
  const single = others.find((other) => includes(other.written, written))
  if (single !== undefined) return [single]
  const found = partsOf(written).map((part) => others.find((other) => includes(other.written, part)))
  return found.includes(undefined) ? [] : [...new Set(found as CheckedPolicy[])]
}
