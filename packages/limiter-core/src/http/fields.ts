import type { Policy, PolicyVerdict } from '../contracts.ts'

/**
 * Formats an RFC 9651 string item (section 4.1.6). The text is printable ASCII, validated by `headerText` at
 * start-up.
 */
export function stringItem(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

// subtracting the start of a window from its end may leave 60,000.000000001 ms of a minute
const ROUNDING_ERROR_MS = 1e-3

/**
 * Returns whole seconds, rounded up so that a header is never early. Waits are whole milliseconds; only resets are
 * not.
 */
export function wholeSeconds(ms: number): number {
  return Math.max(0, Math.ceil((ms - ROUNDING_ERROR_MS) / 1_000))
}

// the name of a policy is written on every response and never changes
const names = new WeakMap<Policy, string>()

function nameItem(policy: Policy): string {
  const item = stringItem(policy.name)
  names.set(policy, item)
  return item
}

/**
 * Formats an item of `RateLimit-Policy`: the quota, the unit unless it is requests, the window unless it follows a
 * calendar and so has no fixed length, and the partition.
 */
export function policyItem(policy: Policy, partition = ''): string {
  const unit = (policy.unit ?? 'requests') === 'requests' ? '' : `;qu=${stringItem(policy.unit as string)}`
  const window = policy.calendar ? '' : `;w=${wholeSeconds(policy.windowMs)}`
  return `${stringItem(policy.name)};q=${policy.limit}${unit}${window}${partition}`
}

/**
 * Formats an item of `RateLimit`: the remaining units, and the seconds until more become available, never later than
 * `Retry-After`. Draft 10 and 11 interpret it alike. A request that can never succeed has no remaining units and no
 * time.
 */
export function rateItem(verdict: PolicyVerdict, partition = ''): string {
  const { policy, allowed, remaining, retryAfterMs, availableAfterMs } = verdict
  const name = names.get(policy) ?? nameItem(policy)
  if (retryAfterMs === Number.POSITIVE_INFINITY) return `${name};r=0${partition}`
  const growsMs = allowed ? availableAfterMs : Math.min(availableAfterMs, retryAfterMs)
  return `${name};r=${remaining};t=${wholeSeconds(growsMs)}${partition}`
}
