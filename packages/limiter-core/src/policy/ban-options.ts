import type { BanTerms } from '../contracts.ts'
import { badOption } from '../errors/bad-option.ts'
import { SluiceError } from '../errors/errors.ts'
import { integerFrom, oneOf, optionalBoolean, optionsOf } from '../options/options.ts'
import { type Duration, parseDuration } from '../time/duration.ts'

/** Option `ban` of a policy: repeated strikes block a key for a growing time. */
export interface BanInput {
  /** Number of strikes within `within` that ban a key, an integer of at least 1. */
  readonly after: number
  /** Time in which strikes count, such as `'1m'`. */
  readonly within: Duration
  /** Duration of the first ban, such as `'10m'`. */
  readonly for: Duration
  /** Factor by which each further ban is longer than the one before, at least 1. Default: 1, equally long bans. */
  readonly growth?: number | undefined
  /** Duration of the longest ban, from `for` to 366 days. Default: 24 hours, or `for` if that is longer. */
  readonly max?: Duration | undefined
  /** Time from the start of a ban in which it makes the next one longer, at least `max`. Default: twice `max`. */
  readonly forget?: Duration | undefined
  /**
   * What a strike is: a request that the policy denies, or with `failures` a request that the policy allows and that
   * fails (status 400 or higher, or `limiter.report(key, 'failure')`). A list of statuses from 400 to 599, such as
   * `[401, 404]`, is `failures` with only these statuses. Default: `denials`.
   */
  readonly strikes?: 'denials' | 'failures' | readonly number[] | undefined
  /**
   * With `success`, a request that succeeds (status below 400, or `limiter.report(key, 'success')`) clears the strikes of
   * its key. It does not end a ban, and does not shorten the next one. Default: only time clears strikes.
   */
  readonly forgiveOn?: 'success' | undefined
  /** Whether each request of a banned key restarts the ban, so that it ends after a pause. Default: false. */
  readonly extend?: boolean | undefined
}

const BAN_OPTIONS = ['after', 'within', 'for', 'growth', 'max', 'forget', 'strikes', 'forgiveOn', 'extend'] as const
const DAY_MS = 86_400_000
const LONGEST_MS = 366 * DAY_MS
const MOST_STRIKES = 999_999_999_999_999

/**
 * Returns the terms of bans by name of their policy. Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION` for invalid
 * options, and `SLUICE_BAD_POLICY` if policies of one name have different bans: they share their bans, as they share
 * their counts.
 */
export function bansByPolicy<P extends { readonly ban?: BanInput | undefined }>(
  policies: readonly P[],
  nameOf: (policy: P) => string,
): ReadonlyMap<string, BanTerms> {
  const byName = new Map<string, BanTerms>()
  for (const policy of policies) {
    if (policy.ban === undefined) continue
    const name = nameOf(policy)
    const terms = compileBan(`policy '${name}': ban`, policy.ban)
    const other = byName.get(name)
    if (other && JSON.stringify(other) !== JSON.stringify(terms)) {
      throw new SluiceError(
        'SLUICE_BAD_POLICY',
        `policy '${name}': ban: expected the same ban in all plans, received different ones; ` +
          'policies with the same name share one count and its bans, so use different names to ban separately',
      )
    }
    byName.set(name, terms)
  }
  return byName
}

/** Returns the terms of a ban; `owner` is the start of messages. */
function compileBan(owner: string, input: BanInput): BanTerms {
  const ban = optionsOf(owner, input, BAN_OPTIONS)
  const option = (name: (typeof BAN_OPTIONS)[number]): string => `${owner}: ${name}`
  const { growth = 1, strikes = 'denials', forgiveOn, extend } = ban
  const forMs = durationUpTo(ban.for, option('for'), 1)
  const maxMs = ban.max === undefined ? Math.max(DAY_MS, forMs) : durationUpTo(ban.max, option('max'), forMs)
  if (!(typeof growth === 'number' && growth >= 1 && growth < Number.POSITIVE_INFINITY)) {
    throw badOption(option('growth'), growth, 'a number of at least 1')
  }
  const forgetMs = ban.forget === undefined ? 2 * maxMs : parseDuration(ban.forget, option('forget'))
  if (forgetMs < maxMs || forgetMs > 2 * LONGEST_MS) {
    throw outOfRange(option('forget'), `from ${maxMs} ms (max) to ${2 * LONGEST_MS} ms (732 days)`, forgetMs)
  }
  if (forgiveOn !== undefined) oneOf(option('forgiveOn'), forgiveOn, ['success'])
  return {
    after: integerFrom(option('after'), ban.after, 1, MOST_STRIKES),
    withinMs: parseDuration(ban.within, option('within')),
    forMs,
    growth,
    maxMs,
    forgetMs,
    strikes:
      Array.isArray(strikes) && strikes.length > 0
        ? strikes.map((status) => integerFrom(option('strikes'), status, 400, 599))
        : oneOf(option('strikes'), strikes, ['denials', 'failures'] as const),
    forgives: forgiveOn !== undefined,
    extends: optionalBoolean(option('extend'), extend),
  }
}

function durationUpTo(value: unknown, option: string, leastMs: number): number {
  const ms = parseDuration(value, option)
  if (ms >= leastMs && ms <= LONGEST_MS) return ms
  const least = leastMs > 1 ? `from ${leastMs} ms (for) to` : 'of at most'
  throw outOfRange(option, `${least} ${LONGEST_MS} ms (366 days)`, ms)
}

function outOfRange(option: string, range: string, ms: number): SluiceError {
  return new SluiceError('SLUICE_BAD_DURATION', `${option}: expected a duration ${range}, received ${ms} ms`)
}
