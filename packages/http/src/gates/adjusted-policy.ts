import { DEFAULT_NAMES } from '@sluice/limiter-core/http'
import type { OnePolicyOptions, RateLimitOptions } from './options/rate-limit-options.ts'
import type { RequestPolicy } from './options/request-policy.ts'

/** A policy of an enclosing part, with the options from which it was compiled. */
interface InheritedPolicy<Req, Res> {
  readonly policy: { readonly name: string }
  readonly input: RequestPolicy<Req, Res>
}

/** Options that describe only the limit that they were declared with. */
const OF_THE_LIMIT: readonly string[] = ['burst', 'overrides']

/**
 * Returns the options that a part takes from the inherited policy of the same name, if its own policy omits `limit` or
 * `window`: all options that it omits, but another limit has its own burst and no limits of single keys. Returns none if
 * there is no such policy, or a different one in each plan. `given` are the options that the part declares itself.
 */
export function adjustedOptions<Req, Res>(
  given: RateLimitOptions<Req, Res>,
  inherited: Iterable<readonly InheritedPolicy<Req, Res>[]>,
): Partial<RequestPolicy<Req, Res>> {
  const own = given as Partial<OnePolicyOptions<Req, Res> & { policies: unknown; plans: unknown }>
  const { name = DEFAULT_NAMES.rateLimit, limit, window, policies, plans } = own
  if (policies !== undefined || plans !== undefined || (limit !== undefined && window !== undefined)) return {}
  const named = [...inherited].flat().filter(({ policy }) => policy.name === name)
  const [input, other] = new Set(named.map((one) => one.input))
  if (!input || other) return {}
  const omitted = Object.entries(input).filter(
    ([option]) =>
      own[option as keyof typeof own] === undefined && !(limit !== undefined && OF_THE_LIMIT.includes(option)),
  )
  return Object.fromEntries(omitted)
}
