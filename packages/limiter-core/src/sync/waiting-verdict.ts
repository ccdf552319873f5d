import type { PolicyVerdict } from '../contracts.ts'
import { ChargeVerdict } from '../decision/verdict.ts'

/** A verdict of one that must wait for an answer has nothing left. */
export function waiting(verdict: PolicyVerdict, cost: number): PolicyVerdict {
  const { policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs } = verdict
  if (allowed || remaining < cost) return verdict
  return new ChargeVerdict(policy, shadow, 0, retryAfterMs, resetAfterMs, retryAfterMs)
}
