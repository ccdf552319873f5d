import { textsOf } from '../matching/attribute-match.ts'
import type { CheckedPolicy } from './checked-policy.ts'
import type { PlacedFinding } from './policy-finding.ts'

/** Attribute with the plan of a request, which selects one of several limits. */
const PLAN = 'plan'

/** Returns the limits of plans that no request has, because their policy matches requests of other plans. */
export function planFindings(policies: readonly CheckedPolicy[]): PlacedFinding[] {
  return policies.flatMap(({ name, limits, written: { match = {} } }) => {
    if (!Object.hasOwn(match, PLAN)) return []
    const matched = textsOf(match[PLAN])
    return limits
      .filter(({ plan }) => plan !== undefined && !matched.includes(plan))
      .map(({ plan, at }) => ({
        ...{ rule: 'unused-limit', severity: 'warning', policy: name, at },
        message: `'${name}' matches only requests whose plan is ${matched.join(' or ')}, never '${plan}'`,
      }))
  })
}
