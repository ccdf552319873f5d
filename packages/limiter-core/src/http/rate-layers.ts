import { joinedObservers } from '../observers/observers.ts'
import { withInherited } from '../options/options.ts'
import type { LayerAnswer } from './layer-answer.ts'
import type { PlansOptions, RateLimitOptions } from './rate-limit-options.ts'
import { type RatePlan, SHARED_RATE_OPTIONS } from './rate-plans.ts'

/** What a part of an application, a class or a route, says of rates beneath what is said above it. */
export interface RateLayer<Req, Res> {
  /** Nothing where only something is left out. */
  readonly options?: RateLimitOptions<Req, Res> | undefined
  /** Names of policies from above that do not count here. */
  readonly without?: readonly string[] | undefined
  /** Names the part: equal in all processes, and of no other part. */
  readonly routeScope: string
}

/** What holds for a part where it says nothing itself; nothing at all where nothing is above it. */
export interface Heritage<Req, Res> {
  readonly options?: Partial<RateLimitOptions<Req, Res>> | undefined
  readonly answer?: LayerAnswer<Req, Res> | undefined
}

/** `own` to compile the policies from, and `all` to guard by. */
interface LayeredOptions<Req, Res> {
  readonly own: RateLimitOptions<Req, Res>
  readonly all: RateLimitOptions<Req, Res>
}

/** The options of a part that is guarded together with what `above` guards; those that it does not say are `inherited`. */
export function layeredOptions<Req, Res>(
  above: RateLimitOptions<Req, Res>,
  options: RateLimitOptions<Req, Res>,
  inherited: Partial<RateLimitOptions<Req, Res>>,
  adapterOptions: readonly string[],
): LayeredOptions<Req, Res> {
  const names: readonly string[] = [...SHARED_RATE_OPTIONS, ...adapterOptions]
  const shared = Object.fromEntries(Object.entries(inherited).filter(([name]) => names.includes(name)))
  // those above watch the policies from above, which decide together with these
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
 * The scope of a part on a backend of the user's; undefined where the part itself says one, or has no name and nothing
 * above it. Below a scope that was said a part has one of its own.
 */
export function scopeOfPart(
  above: string | undefined,
  { scope }: { readonly scope?: string | undefined },
  routeScope: string,
): string | undefined {
  if (scope !== undefined) return undefined
  return above === undefined ? routeScope || undefined : `${above}:${routeScope}`
}

/** By plan: the policies of the own one, then those from above that it neither replaces nor leaves out. */
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
      // the name of their count is the upper layer's to give back
      const inherited = left.map((one) => ({ ...one, close: () => {} }))
      return [name, [...inherited, ...mine]]
    }),
  )
}
