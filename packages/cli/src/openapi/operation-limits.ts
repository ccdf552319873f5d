import { type PolicyDocument, RoutePolicies, type RoutePolicy } from '@sluice/policies'
import type { Operation } from './operations.ts'
import type { Part } from './rate-headers.ts'
import { RouteSpellings } from './route-spellings.ts'

/** Finds the limits of operations, in the form of `x-rate-limits`. */
export class OperationLimits {
  readonly #policies: RoutePolicies
  readonly #spellings: RouteSpellings
  readonly #byRoute = new Map<string, readonly RoutePolicy[]>()

  constructor(document: PolicyDocument) {
    this.#policies = new RoutePolicies(document)
    this.#spellings = new RouteSpellings(document)
  }

  /** Routes of policies that no operation has, after all operations. */
  get unusedRoutes(): readonly string[] {
    return this.#spellings.unused
  }

  /** Returns the limits of an operation in the order of the policy file, on any of its paths. */
  of({ places }: Operation): readonly Part[] {
    const found = new Map<string, Part>()
    for (const { method, path, bases } of places) {
      const spellings = this.#spellings.of(method, path, bases)
      for (const one of this.#ofRoute(method, spellings)) {
        if (!found.has(one.policy.name)) found.set(one.policy.name, limitOf(one))
      }
    }
    return [...found.values()]
  }

  #ofRoute(method: string, spellings: readonly string[]): readonly RoutePolicy[] {
    const id = [method, ...spellings].join('\n')
    const known = this.#byRoute.get(id) ?? this.#policies.of(method, spellings)
    this.#byRoute.set(id, known)
    return known
  }
}

/** Returns a limit without the values of attributes and overrides: they may be names of customers. */
function limitOf({ policy, dependsOn }: RoutePolicy): Part {
  const { name, limit, unit = 'requests', per, key = 'address', cost = 1, algorithm, burst } = policy.written
  return {
    ...{ policy: name, limit, unit, window: per, key, cost },
    ...(algorithm && { algorithm }),
    ...(burst && { burst }),
    ...(dependsOn.length > 0 && { dependsOn }),
  }
}
