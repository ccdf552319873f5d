import type { Policy, PolicyVerdict } from '../contracts.ts'

/** RFC 9651 section 4.1.6: a string item. The text is printable ASCII, as `headerText` made sure at start-up. */
export function stringItem(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

// 60,000.000000001 ms are what is left of a minute when the end of a window is taken less its start
const ROUNDING_ERROR_MS = 1e-3

/** Whole seconds of a wait: rounded up, so that a header is never early. Waits are whole ms; only resets are not. */
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
 * An item of `RateLimit-Policy`: the promise, its unit where it is not requests, its window unless that follows a
 * calendar and so has no length, whose it is.
 */
export function policyItem(policy: Policy, partition = ''): string {
  const unit = (policy.unit ?? 'requests') === 'requests' ? '' : `;qu=${stringItem(policy.unit as string)}`
  const window = policy.calendar ? '' : `;w=${wholeSeconds(policy.windowMs)}`
  return `${stringItem(policy.name)};q=${policy.limit}${unit}${window}${partition}`
}

/**
 * An item of `RateLimit`: what is left, and the seconds until it is more than that, never later than `Retry-After`.
 * Draft 10 and 11 read it alike. Of a request that never can pass nothing is left, and no time.
 */
export function rateItem(verdict: PolicyVerdict, partition = ''): string {
  const { policy, allowed, remaining, retryAfterMs, availableAfterMs } = verdict
  const name = names.get(policy) ?? nameItem(policy)
  if (retryAfterMs === Number.POSITIVE_INFINITY) return `${name};r=0${partition}`
  const growsMs = allowed ? availableAfterMs : Math.min(availableAfterMs, retryAfterMs)
  return `${name};r=${remaining};t=${wholeSeconds(growsMs)}${partition}`
}
