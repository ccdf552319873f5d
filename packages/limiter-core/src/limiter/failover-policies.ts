import { isInfallible } from '../backend/infallible.ts'
import { banInFront } from '../ban/open-ban.ts'
import type { Backend, Clock, Counter } from '../contracts.ts'
import { FailoverBackend } from '../failover/failover-backend.ts'
import type { FailoverRule } from '../failover/failover-options.ts'
import type { LimitCounters } from './limit-counters.ts'
import type { ChargedBackend, OpenPolicy } from './open-policy.ts'

/** Policies with failover. */
interface CoveredPolicies {
  readonly policies: readonly OpenPolicy[]
  /** The backend for each counter. Counters of other limits are added when they are first charged. */
  readonly backendOf: ReadonlyMap<Counter, ChargedBackend>
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
  const backendOf = new Map<Counter, ChargedBackend>()
  const coverOf = (home: Backend): FailoverBackend | undefined => {
    if (isInfallible(home)) return undefined
    const cover = covers.get(home) ?? new FailoverBackend(home, rule, clock)
    covers.set(home, cover)
    return cover
  }
  const covered = policies.map((open) => {
    const cover = coverOf(open.home)
    const backend = cover ?? open.home
    const fronts = new Map<Counter, Counter>()
    const frontOf = (counter: Counter): Counter => {
      const known = fronts.get(counter)
      if (known) return known
      const front = cover?.wrap(counter, open.failover ?? rule) ?? counter
      fronts.set(counter, front)
      backendOf.set(front, backend)
      return front
    }
    const counters = countersInFront(open.counters, frontOf)
    const ban = open.ban && banInFront(open.ban, frontOf)
    const overrides = open.overrides?.inFront(counters)
    return { ...open, backend, counter: counters.own, counters, overrides, ban }
  })
  const close = (): void => {
    for (const cover of covers.values()) cover.close()
  }
  return { policies: covered, backendOf, close }
}

function countersInFront(counters: LimitCounters, frontOf: (counter: Counter) => Counter): LimitCounters {
  return {
    own: frontOf(counters.own),
    get windows(): readonly Counter[] {
      return counters.windows.map(frontOf)
    },
    prepare: (limit, windowMs) => counters.prepare(limit, windowMs),
    of: (limit, windowMs) => {
      const counter = counters.of(limit, windowMs)
      return counter && frontOf(counter)
    },
  }
}
