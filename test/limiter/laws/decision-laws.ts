import type { Decision, PolicyVerdict } from '@sluice/limiter-core'

/** Throws if a law is broken. */
export type Check = (law: string, isKept: boolean, ...details: readonly unknown[]) => void

/** Checks what holds for each decision alone. `isUnlimited`: whether the failure rule `allow` may have decided. */
export function checkDecision(check: Check, decision: Decision, isUnlimited: boolean): void {
  const { verdicts, allowed, retryAfterMs } = decision
  for (const verdict of verdicts) checkNumbers(check, verdict, isUnlimited)
  const denied = verdicts.filter((one) => !one.allowed && !one.shadow)
  check('enforced policies decide, and no others', allowed === (denied.length === 0), decision)
  const longest = Math.max(0, ...denied.map((one) => one.retryAfterMs))
  check('the wait is the longest one', retryAfterMs === longest, decision)
  if (verdicts.length > 0) check('the most restrictive verdict binds', bindsMost(decision, longest), decision)
}

function bindsMost({ verdicts, binding, allowed }: Decision, longestMs: number): boolean {
  const enforced = verdicts.filter((one) => !one.shadow)
  if (enforced.length === 0) return true
  if (binding.shadow) return false
  const part = ({ remaining, policy: { limit } }: PolicyVerdict): number => remaining / limit
  return allowed ? enforced.every((one) => part(binding) <= part(one)) : binding.retryAfterMs === longestMs
}

/** Checks the numbers of a verdict. `isUnlimited`: see `checkDecision`. */
export function checkNumbers(check: Check, verdict: PolicyVerdict, isUnlimited: boolean): void {
  const { allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs, policy } = verdict
  if (isUnlimited && remaining === Number.POSITIVE_INFINITY) return
  const isLeft = Number.isInteger(remaining) && remaining >= 0 && remaining <= (policy.burst ?? policy.limit)
  const isReset = Number.isFinite(resetAfterMs) && resetAfterMs >= 0
  const areNumbers = isLeft && isReset && isWait(retryAfterMs) && isWait(availableAfterMs)
  check('numbers are in their range', areNumbers, verdict)
  check('a verdict without a wait is allowed', allowed === (retryAfterMs === 0), verdict)
}

function isWait(ms: number): boolean {
  return ms === Number.POSITIVE_INFINITY || (Number.isInteger(ms) && ms >= 0)
}
