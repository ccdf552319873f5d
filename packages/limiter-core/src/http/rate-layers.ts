import { joinedObservers } from '../observers/observers.ts'
import { withInherited } from '../options/options.ts'
import type { LayerAnswer } from './layer-answer.ts'
import type { PlansOptions, RateLimitOptions } from './rate-limit-options.ts'
import { type RatePlan, SHARED_RATE_OPTIONS } from './rate-plans.ts'

/** The rate limits that a part of an application (a class or a route) declares below its parent. */
export interface RateLayer<Req, Res> {
  /** Undefined if the layer only removes limits. */
  readonly options?: RateLimitOptions<Req, Res> | undefined
  /** Names of policies from above that do not count here. */
  readonly without?: readonly string[] | undefined
  /** Names the part: equal in all processes, and of no other part. */
  readonly routeScope: string
}

/** What a part inherits; undefined at the top. */
export interface Heritage<Req, Res> {
  readonly options?: Partial<RateLimitOptions<Req, Res>> | undefined
  readonly answer?: LayerAnswer<Req, Res> | undefined
}

/** `own` to compile the policies from, and `all` to guard by. */
interface LayeredOptions<Req, Res> {
  readonly own: RateLimitOptions<Req, Res>
  readonly all: RateLimitOptions<Req, Res>
}

/**
 * Merges the options of a part with the `inherited` ones, for policies that are checked together with those of
 * `above`.
 */
export function layeredOptions<Req, Res>(
  above: RateLimitOptions<Req, Res>,
  options: RateLimitOptions<Req, Res>,
  inherited: Partial<RateLimitOptions<Req, Res>>,
  adapterOptions: readonly string[],
): LayeredOptions<Req, Res> {
  const names: readonly string[] = [...SHARED_RATE_OPTIONS, ...adapterOptions]
  const shared = Object.fromEntries(Object.entries(inherited).filter(([name]) => names.includes(name)))
  // the observers above also receive decisions about their own policies, which are made together with these
  const observers = joinedObservers(above.observers, options.observers)
  // one question, and so one time for its answer
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
 * Returns the scope of a part on an explicit backend; undefined if the part declares a scope, or has no name and no
 * parent. Below a declared scope, each part has its own scope.
 */
export function scopeOfPart(
  above: string | undefined,
  { scope }: { readonly scope?: string | undefined },
  routeScope: string,
): string | undefined {
  if (scope !== undefined) return undefined
  return above === undefined ? routeScope || undefined : `${above}:${routeScope}`
}

/** Returns per plan the policies of the part, followed by the inherited ones that it neither replaces nor removes. */
export function layeredPlans<Req, Res>(
  above: ReadonlyMap<string, RatePlan<Req, Res>>,
  own: ReadonlyMap<string, RatePlan<Req, Res>> | undefined,
  without: readonly string[],
): Map<string, RatePlan<Req, Res>> {
  const names = own && !own.has('') ? own.keys() : above.keys()
  return new Map(
    [...names].map((name) => {
      const mine = own?.get(name) ?? own?.get('') ?? []
      const taken = new Set([...without, ...mine.map(({ policy }) => policy.name)])
      const others = above.get(name) ?? above.values().next().value ?? []
      const left = others.filter(({ policy }) => !taken.has(policy.name))
      // the upper layer releases the name of its count
      const inherited = left.map((one) => ({ ...one, close: () => {} }))
      return [name, [...inherited, ...mine]]
    }),
  )
}
