import { isInfallible } from '../backend/infallible.ts'
import { banInFront } from '../ban/open-ban.ts'
import type { Backend, Clock, Counter } from '../contracts.ts'
import { FailoverBackend } from '../failover/failover-backend.ts'
import type { FailoverRule } from '../failover/failover-options.ts'
import { FrontLimitCounters } from './limit-counters.ts'
import type { OpenPolicy } from './open-policy.ts'

/** Policies with failover. */
interface CoveredPolicies {
  readonly policies: readonly OpenPolicy[]
  /** The backend for each counter. Counters of other limits are added when they are first charged. */
  readonly homes: ReadonlyMap<Counter, Backend>
  /** Closes the failover backends; the backends behind them stay open. */
  readonly close: () => void
}

/**
 * Puts failover in front of every backend that may fail or be slow, which includes every custom backend. Policies on
 * the same backend share one `FailoverBackend`. Each policy has its own failure rule; default: `rule`.
 */
export function withFailover(
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
      const front = cover?.wrap(counter, open.failover ?? rule) ?? counter
      homes.set(front, backend)
      return front
    }
    const counters = new FrontLimitCounters(open.counters, frontOf)
    const ban = open.ban && banInFront(open.ban, frontOf)
    const overrides = open.overrides?.inFront(counters)
    return { ...open, backend, counter: counters.own, counters, overrides, ban }
  })
  const close = (): void => {
    for (const cover of covers.values()) cover.close()
  }
  return { policies: covered, homes, close }
}
