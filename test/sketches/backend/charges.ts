import type { Backend, BackendVerdict, Charge, Policy } from '@sluice/limiter-core/backend'
import { openedCounter } from '@sluice/testkit'

export const MINUTE = 60_000

/** Creates a policy of one minute. Its name is derived from its options. */
export function policyOf(shape: Partial<Policy> = {}): Policy {
  const policy = { algorithm: 'sliding-window', limit: 7, windowMs: MINUTE, ...shape } as const
  return { name: [policy.algorithm, policy.limit, policy.slices ?? 1].join('-'), ...policy }
}

export function chargeOf(backend: Backend, policy: Policy, key: string, cost = 1, advisory = false): Charge {
  return { key, counter: openedCounter(backend, 'sketch', policy), cost, advisory }
}

/** Returns the fields of verdicts that the tests compare. */
export function plain(verdicts: readonly BackendVerdict[]): readonly object[] {
  return verdicts.map(({ policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs }) => {
    return { policy: policy.name, shadow, allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs }
  })
}
