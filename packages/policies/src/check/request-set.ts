import type { WrittenPolicy } from '../document/policy-document.ts'
import { AttributeMatch, textsOf } from '../matching/attribute-match.ts'
import type { CheckedPolicy } from './checked-policy.ts'

/** The requests that a policy applies to. */
export type RequestSet = Pick<WrittenPolicy, 'match' | 'when'>

type Match = NonNullable<WrittenPolicy['match']>

/** Most combinations of values for which the policies that replace a policy are looked up. */
const MAX_PARTS = 256

/**
 * Whether every request of `inner` is a request of `outer`. Returns false if that is not certain: conditions in CEL are
 * compared as text.
 */
export function includes(outer: RequestSet, inner: RequestSet): boolean {
  const hasCondition = outer.when !== undefined && outer.when.trim() !== inner.when?.trim()
  return !hasCondition && new AttributeMatch(inner.match).isWithin(new AttributeMatch(outer.match))
}

/** Whether the two sets certainly have no common request. */
export function areDisjoint({ match: one = {} }: RequestSet, { match: other = {} }: RequestSet): boolean {
  return Object.entries(one).some(([attribute, values]) => {
    if (!Object.hasOwn(other, attribute)) return false
    const theirs = textsOf(other[attribute])
    return !textsOf(values).some((value) => theirs.includes(value))
  })
}

/** Whether a policy that is not off replaces another policy on the requests that both match. */
export function replaces(policy: CheckedPolicy, other: CheckedPolicy): boolean {
  return policy.mode !== 'off' && policy.file.replaces(other.file)
}

/**
 * Returns sets that together are the requests of `set`, one for each combination of the listed values. Returns `set`
 * alone if there are too many combinations.
 */
export function partsOf({ match = {}, when }: RequestSet): RequestSet[] {
  let parts: Match[] = [{}]
  for (const [attribute, values] of Object.entries(match)) {
    parts = parts.flatMap((part) => textsOf(values).map((value) => ({ ...part, [attribute]: value })))
    if (parts.length > MAX_PARTS) return [withCondition(match, when)]
  }
  return parts.map((part) => withCondition(part, when))
}

function withCondition(match: Match, when: string | undefined): RequestSet {
  return when === undefined ? { match } : { match, when }
}
