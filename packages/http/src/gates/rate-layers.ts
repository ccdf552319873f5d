import { byIp, type Observer, Observers } from '@sluice/limiter-core/http'
import { adjustedOptions } from './adjusted-policy.ts'
import { withInherited } from './options/inherited-options.ts'
import { SHARED_RATE_OPTIONS } from './options/rate-inputs.ts'
import type { PlansOptions, RateLimitOptions } from './options/rate-limit-options.ts'
import type { PolicyChanges } from './policy-changes.ts'
import type { GateOverrides } from './rate-check.ts'
import { compilePlans, type RatePlan, type RatePlans } from './rate-plans.ts'
import { hasOwnResponse, type ResponseSettings } from './response-settings.ts'

/** The rate limits that a part of an application (a class or a route) declares below its parent. */
export interface RateLayer<Req, Res> {
  /** Undefined if the layer only removes limits. */
  readonly options?: RateLimitOptions<Req, Res> | undefined
  /** Names of inherited policies that do not apply to the part. */
  readonly without?: readonly string[] | undefined
  /** Unique name of the part, the same in all processes. */
  readonly routeScope: string
}

/** What a part inherits from its parent; empty for the outermost part. */
interface InheritedSettings<Req, Res> {
  readonly options?: Partial<RateLimitOptions<Req, Res>> | undefined
  readonly answer?: ResponseSettings<Req, Res> | undefined
}

/** A gate below which a part declares limits. */
interface GateAbove<Req, Res> {
  readonly options: RateLimitOptions<Req, Res>
  readonly adapterOptions: readonly string[]
  readonly observers: Observers
  readonly answer: ResponseSettings<Req, Res>
  readonly policies: RatePlans<Req, Res>
  readonly changes: PolicyChanges<RatePlans<Req, Res>> | undefined
}

/** The options and overrides from which the gate of a part is created. */
interface LayeredGate<Req, Res> {
  readonly options: RateLimitOptions<Req, Res>
  readonly part: GateOverrides<Req, Res>
}

/**
 * Returns what the gate of a part consists of. The policies of the part replace policies of `above` with the same name;
 * the others still apply, except those in `without`. `parent` has the options and answers that the part inherits.
 */
export function layeredGate<Req, Res>(
  above: GateAbove<Req, Res>,
  { options, without = [], routeScope }: RateLayer<Req, Res>,
  parent: InheritedSettings<Req, Res>,
): LayeredGate<Req, Res> {
  const { observers, answer, adapterOptions } = above
  if (!options) {
    // called for each change of the policies above
    const plans: GateOverrides<Req, Res>['plans'] = (_rules, inherited = above.policies) =>
      layeredPlans(inherited, undefined, without)
    return { options: above.options, part: { plans, observers, answer, above } }
  }
  const inherited: Partial<RateLimitOptions<Req, Res>> = parent.options ?? {}
  const { own, all } = layeredOptions(above.options, options, inherited, adapterOptions)
  return {
    options: all,
    part: {
      above,
      plans: (rules, inherited = above.policies) => {
        const complete = { ...own, ...adjustedOptions(options, inherited.values()) }
        return layeredPlans(inherited, compilePlans<Req, Res>(complete, byIp(), adapterOptions, rules), without)
      },
      // reused if the list is the same, so that events of a shared backend are reported once
      observers: all.observers === above.options.observers ? observers : new Observers(all.observers),
      routeScope: scopeOfPart(inherited.scope, options, routeScope),
      answer: hasOwnResponse({ ...options }, adapterOptions) ? undefined : parent.answer,
    },
  }
}

interface LayeredOptions<Req, Res> {
  /** Options from which the policies of the part are compiled. */
  readonly own: RateLimitOptions<Req, Res>
  /** Options of the gate that checks the part's own and inherited policies. */
  readonly all: RateLimitOptions<Req, Res>
}

/**
 * Merges the options of a part with the `inherited` ones. The policies of the part are checked together with the
 * policies of `above`.
 */
function layeredOptions<Req, Res>(
  above: RateLimitOptions<Req, Res>,
  options: RateLimitOptions<Req, Res>,
  inherited: Partial<RateLimitOptions<Req, Res>>,
  adapterOptions: readonly string[],
): LayeredOptions<Req, Res> {
  const names: readonly string[] = [...SHARED_RATE_OPTIONS, ...adapterOptions]
  const shared = Object.fromEntries(Object.entries(inherited).filter(([name]) => names.includes(name)))
  // the observers above still watch the inherited policies, which are decided together with the part's own
  const observers = joinedObservers(above.observers, options.observers)
  // all policies are charged in one call, which has one deadline
  const deadlineMs = options.deadlineMs ?? above.deadlineMs
  const own = {
    ...withInherited(options, shared),
    ...(observers && { observers }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  }
  const { plan } = above as Partial<PlansOptions<Req, Res>>
  return { own, all: plan ? ({ plan, ...own } as RateLimitOptions<Req, Res>) : own }
}

/**
 * Returns the observers of a layer and of the layers above it, each once. An invalid `own` is returned unchanged, and
 * the constructor of `Observers` rejects it.
 */
function joinedObservers(
  above: readonly Observer[] | undefined,
  own: readonly Observer[] | undefined,
): readonly Observer[] | undefined {
  if (own === undefined || above === undefined || !Array.isArray(own)) return own ?? above
  return [...new Set([...above, ...own])]
}

/**
 * Returns the scope of a part on a user-provided backend; undefined if the part declares a scope itself, or if it has
 * no name and no scope is inherited. An inherited scope is extended by the name of the part.
 */
export function scopeOfPart(
  above: string | undefined,
  options: { readonly scope?: string | undefined } | null,
  routeScope: string,
): string | undefined {
  // the gate rejects options that are not an object
  if (options?.scope !== undefined) return undefined
  return above === undefined ? routeScope || undefined : `${above}:${routeScope}`
}

/** Returns for each plan the inherited policies that the part neither replaces nor removes, then the part's own. */
function layeredPlans<Req, Res>(
  above: RatePlans<Req, Res>,
  own: RatePlans<Req, Res> | undefined,
  without: readonly string[],
): Map<string, RatePlan<Req, Res>> {
  const names = own && !own.has('') ? own.keys() : above.keys()
  return new Map(
    [...names].map((name) => {
      const mine = own?.get(name) ?? own?.get('') ?? []
      const taken = new Set([...without, ...mine.map(({ policy }) => policy.name)])
      const others = above.get(name) ?? above.values().next().value ?? []
      const left = others.filter(({ policy }) => !taken.has(policy.name))
      // the layer above closes its own policies
      const inherited = left.map((one) => ({ ...one, close: () => {} }))
      return [name, [...inherited, ...mine]]
    }),
  )
}
