import type { Policy, PolicyVerdict } from '../../contracts.ts'

/** Names of the parameters of `RateLimit` in a draft. */
export interface ListDialect {
  /** The units that are left. */
  readonly available: string
  /** The seconds until more are available. */
  readonly seconds: string
}

/** Drafts 8 to 11 of draft-ietf-httpapi-ratelimit-headers. */
export const DRAFT: ListDialect = { available: 'r', seconds: 't' }

/** Formats a string item (RFC 9651 section 4.1.6). `headerText` has validated at startup that it is printable ASCII. */
export function stringItem(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

// subtracting the start of a window from its end may leave 60,000.000000001 ms of a minute
export const ROUNDING_ERROR_MS = 1e-3

/**
 * Rounds milliseconds up to whole seconds, so that a client never retries too early. Only reset times have fractions of
 * a millisecond; waits do not.
 */
export function wholeSeconds(ms: number): number {
  return Math.max(0, Math.ceil((ms - ROUNDING_ERROR_MS) / 1_000))
}

// serialized policy names, which never change and are written on every response
const names = new WeakMap<Policy, string>()

function nameItem(policy: Policy): string {
  const item = stringItem(policy.name)
  names.set(policy, item)
  return item
}

/**
 * Formats an item of `RateLimit-Policy`: the quota, the unit unless it is requests, the window unless it follows a
 * calendar and therefore has no fixed length, and the partition key.
 */
export function policyItem(policy: Policy, partition = ''): string {
  const unit = (policy.unit ?? 'requests') === 'requests' ? '' : `;qu=${stringItem(policy.unit as string)}`
  const window = policy.calendar ? '' : `;w=${wholeSeconds(policy.windowMs)}`
  return `${stringItem(policy.name)};q=${policy.limit}${unit}${window}${partition}`
}

/**
 * Formats an item of `RateLimit`: the remaining units, and the seconds until more become available, never later than
 * `Retry-After`, which is what drafts 8 to 11 mean. If the request can never pass, none are left, and there are no seconds.
 */
export function rateItem(verdict: PolicyVerdict, dialect: ListDialect = DRAFT, partition = ''): string {
  const { policy, allowed, remaining, retryAfterMs, availableAfterMs } = verdict
  const name = names.get(policy) ?? nameItem(policy)
  if (retryAfterMs === Number.POSITIVE_INFINITY) return `${name};${dialect.available}=0${partition}`
  const growsMs = allowed ? availableAfterMs : Math.min(availableAfterMs, retryAfterMs)
  return `${name};${dialect.available}=${remaining};${dialect.seconds}=${wholeSeconds(growsMs)}${partition}`
}
