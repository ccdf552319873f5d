import { algorithms, type CompiledPolicy, type Policy } from '@sluice/limiter-core/backend'
import { PolicyDriver } from '@sluice/testkit'

/** A policy with a window of 1 s by default. */
export function policyOf(policy: Partial<Policy> & Pick<Policy, 'algorithm' | 'limit'>): Policy {
  return { name: 'test', windowMs: 1_000, ...policy }
}

export function compiledOf(
  policy: Partial<Policy> & Pick<Policy, 'algorithm' | 'limit'>,
  largestLimit?: number,
): CompiledPolicy {
  return algorithms[policy.algorithm].compile(policyOf(policy), largestLimit)
}

/** One new key of a policy. */
export function keyOf(policy: Partial<Policy> & Pick<Policy, 'algorithm' | 'limit'>): PolicyDriver {
  return new PolicyDriver(compiledOf(policy))
}
