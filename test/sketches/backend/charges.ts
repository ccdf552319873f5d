import { type AnsweredVerdict, algorithms, type Charge, type Policy, type Step } from '@sluice/limiter-core'

export const MINUTE = 60_000

/** A policy of one minute, its name made of its shape. */
export function policyOf(shape: Partial<Policy> = {}): Policy {
  const policy = { algorithm: 'sliding-window', limit: 7, windowMs: MINUTE, ...shape } as const
  return { name: [policy.algorithm, policy.limit, policy.slices ?? 1].join('-'), ...policy }
}

const steps = new WeakMap<Policy, Step>()

export function chargeOf(policy: Policy, key: string, cost = 1, advisory = false): Charge {
  const step = steps.get(policy) ?? algorithms[policy.algorithm].compile(policy)
  steps.set(policy, step)
  return { key, step, count: `sketch/${policy.name}/${policy.algorithm}@${step.version}`, cost, advisory }
}

/** The part of verdicts that is compared. */
export function plain(verdicts: readonly AnsweredVerdict[]): readonly object[] {
  return verdicts.map(({ policy, shadow, allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs }) => {
    return { policy: policy.name, shadow, allowed, remaining, retryAfterMs, resetAfterMs, availableAfterMs }
  })
}
