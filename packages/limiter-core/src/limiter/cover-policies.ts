import { isInfallible } from '../backend/infallible.ts'
import type { Backend, Clock, Counter } from '../contracts.ts'
import { FailoverBackend } from '../failover/failover-backend.ts'
import type { FailoverRule } from '../failover/failover-options.ts'
import { FrontLimitCounters } from './limit-counters.ts'
import type { OpenPolicy } from './open-policy.ts'

/** Policies that always have an answer, and what ends what was made for that. */
interface CoveredPolicies {
  readonly policies: readonly OpenPolicy[]
  /** Who takes charges of each counter; those of other limits are added once they are charged. */
  readonly homes: ReadonlyMap<Counter, Backend>
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
  const homes = new Map<Counter, Backend>()
  const coverOf = (open: OpenPolicy): FailoverBackend => {
    const cover = covers.get(open.backend) ?? new FailoverBackend(open.backend, rule, clock)
    covers.set(open.backend, cover)
    return cover
  }
  const covered = policies.map((open) => {
    const cover = isInfallible(open.backend) ? undefined : coverOf(open)
    const backend = cover ?? open.backend
    const frontOf = (counter: Counter): Counter => {
      const front = cover?.cover(counter, open.failover ?? rule) ?? counter
      homes.set(front, backend)
      return front
    }
    const counters = new FrontLimitCounters(open.counters, frontOf)
    return { ...open, backend, counter: counters.own, counters, overrides: open.overrides?.inFront(counters) }
  })
  const close = (): void => {
    for (const cover of covers.values()) cover.close()
  }
  return { policies: covered, homes, close }
}
