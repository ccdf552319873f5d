import type { AnsweredVerdict, Backend, Charge, Policy } from '@sluice/limiter-core/backend'
import { openedCounter } from '@sluice/testkit'

export const MINUTE = 60_000

/** A policy of one minute, its name made of its shape. */
export function policyOf(shape: Partial<Policy> = {}): Policy {
  const policy = { algorithm: 'sliding-window', limit: 7, windowMs: MINUTE, ...shape } as const
  return { name: [policy.algorithm, policy.limit, policy.slices ?? 1].join('-'), ...policy }
}

export function chargeOf(backend: Backend, policy: Policy, key: string, cost = 1, advisory = false): Charge {
  return { key, counter: openedCounter(backend, 'sketch', policy), cost, advisory }
}

/** The part of verdicts that is compared. */
export function plain(verdicts: readonly AnsweredVerdict[]): readonly object[] {
  return verdicts.map(({ policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs }) => {
    return { policy: policy.name, shadow, allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs }
  })
}
