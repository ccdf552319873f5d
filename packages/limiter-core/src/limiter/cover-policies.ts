import { isInfallible } from '../backend/infallible.ts'
import type { Backend, Clock } from '../contracts.ts'
import { FailoverBackend } from '../failover/failover-backend.ts'
import type { FailoverRule } from '../failover/failover-options.ts'
import type { OpenPolicy } from './open-policy.ts'

/** Policies that always have an answer, and what ends what was made for that. */
interface CoveredPolicies {
  readonly policies: readonly OpenPolicy[]
  readonly close: () => void
}

/**
 * Puts failover before every backend that may fail or be slow, and so before every one of somebody else: one for all
 * policies that count on the same, each of which has its own rule.
 */
export function coverPolicies(
  policies: readonly OpenPolicy[],
  clock: Clock | undefined,
  rule: FailoverRule,
): CoveredPolicies {
  const covers = new Map<Backend, FailoverBackend>()
  const covered = policies.map((open) => {
    if (isInfallible(open.backend)) return open
    const backend = covers.get(open.backend) ?? new FailoverBackend(open.backend, rule, clock)
    covers.set(open.backend, backend)
    return { ...open, backend, counter: backend.cover(open.counter, open.failover ?? rule) }
  })
  const close = (): void => {
    for (const cover of covers.values()) cover.close()
  }
  return { policies: covered, close }
}
