import { ChargeVerdict, type PolicyVerdict } from '@sluice/limiter-core/backend'

/**
 * Sets `remaining` to 0 in a denial whose cost would fit: the process has spent its burst and must wait for a reply of
 * the ledger. Returns other verdicts unchanged.
 */
export function waiting(verdict: PolicyVerdict, cost: number): PolicyVerdict {
  const { policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs } = verdict
  if (allowed || remaining < cost) return verdict
  return new ChargeVerdict(policy, shadow, 0, retryAfterMs, resetAfterMs, retryAfterMs)
}
