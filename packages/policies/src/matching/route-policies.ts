import type { PolicyDocument } from '../document/policy-document.ts'
import { countedMethod } from './attribute-source.ts'
import type { FilePolicy } from './file-policy.ts'
import { PolicyMatcher } from './policy-matcher.ts'

/** A policy that denies requests of a route which are above its limit. */
export interface RoutePolicy {
  readonly policy: FilePolicy
  /** Names of the attributes that decide whether the policy applies. Empty if it applies to every request of the route. */
  readonly dependsOn: readonly string[]
}

/** Attributes that all requests of a route have in common. */
const KNOWN: readonly string[] = ['method', 'route']

/** Finds the policies of a document that apply to a route, without a request. */
export class RoutePolicies {
  readonly #policies: readonly FilePolicy[]

  constructor(document: PolicyDocument) {
    this.#policies = new PolicyMatcher(document).policies
  }

  /**
   * Returns the enforced policies that can apply to requests of a route, in the order of the file, without those that
   * another policy always replaces. `spellings`: the route as the application may declare it, such as
   * `GET /teams/:team`. A condition whose result depends on other attributes may be met.
   */
  of(method: string, spellings: readonly string[]): readonly RoutePolicy[] {
    const possible = this.#policies.flatMap((policy) => appliesTo(policy, countedMethod(method), spellings) ?? [])
    const certain = possible.filter(({ policy, dependsOn }) => dependsOn.length === 0 && policy.share === 1)
    return possible.filter(
      ({ policy }) => !policy.isShadow && !certain.some(({ policy: other }) => other.replaces(policy)),
    )
  }
}

function appliesTo(policy: FilePolicy, method: string, spellings: readonly string[]): RoutePolicy | undefined {
  const { match, share, written } = policy
  if (written.mode === 'off' || share === 0) return undefined
  if (match.valuesOf('method')?.has(method) === false) return undefined
  const routes = match.valuesOf('route')
  if (routes && !spellings.some((route) => routes.has(route))) return undefined
  const met = isMet(policy, method, spellings)
  if (met === false) return undefined
  const names = [...match.names, ...(met === true ? [] : policy.conditionAttributes)]
  return { policy, dependsOn: [...new Set(names)].filter((name) => !KNOWN.includes(name)) }
}

/** Returns whether the condition of a policy is met under any spelling of the route; undefined if it may be met. */
function isMet(policy: FilePolicy, method: string, spellings: readonly string[]): boolean | undefined {
  const outcomes = spellings.map((route) => policy.meets(new Map(Object.entries({ method, route }))))
  return outcomes.includes(true) ? true : outcomes.includes(undefined) ? undefined : false
}
