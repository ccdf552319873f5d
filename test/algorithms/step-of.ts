import { algorithms, type Policy, type Step } from '@sluice/limiter-core'
import { StepDriver } from '@sluice/testkit'

/** A policy of 1 s unless said. */
export function policyOf(policy: Partial<Policy> & Pick<Policy, 'algorithm' | 'limit'>): Policy {
  return { name: 'test', windowMs: 1_000, ...policy }
}

export function stepOf(policy: Partial<Policy> & Pick<Policy, 'algorithm' | 'limit'>, largestLimit?: number): Step {
  return algorithms[policy.algorithm].compile(policyOf(policy), largestLimit)
}

/** One new key of a policy. */
export function keyOf(policy: Partial<Policy> & Pick<Policy, 'algorithm' | 'limit'>): StepDriver {
  return new StepDriver(stepOf(policy))
}
