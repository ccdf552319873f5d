import type { Policy, Verdict } from '@sluice/limiter-core'
import { bucketRule } from './bucket-rule.ts'
import { fixedWindowRule } from './fixed-window-rule.ts'
import { logRule } from './log-rule.ts'
import { type Rule, TICKS_PER_MS, ticksOf } from './rule.ts'
import { slicedWindowRule } from './sliced-window-rule.ts'
import { twoEpochRule } from './two-epoch-rule.ts'

/**
 * The guarantee for one key of one policy: slow, exact (BigInt), and written independently of any implementation.
 * `now` never steps back; times are multiples of 1/1024 ms.
 */
export interface ReferenceModel {
  /** The most units that a fresh key can give at once. */
  readonly capacity: number
  /** Spends `cost`, whole units from 0, if it fits. */
  take(now: number, cost: number): Verdict
  /** Returns what `take` would return. */
  peek(now: number, cost: number): Verdict
  /** Charges or refunds units of the take made at `takenAt`, an integer; returns the units that were applied. */
  adjust(now: number, units: number, takenAt: number): number
}

/** The model of a policy. Throws for a policy that has no model: one with a calendar. */
export function referenceModel(policy: Policy): ReferenceModel {
  const rule = ruleOf(policy)
  const capacity = policy.burst ?? policy.limit
  const verdict = (now: bigint, retryAfterMs: number): Verdict => {
    const left = remaining(rule, now, capacity)
    return {
      allowed: retryAfterMs === 0,
      remaining: left,
      retryAfterMs,
      resetAfterMs: rule.resetAfterMs(now),
      availableAfterMs: left === capacity ? 0 : waitMs(rule, now, left + 1, capacity),
    }
  }
  return {
    capacity,
    take(now, cost) {
      const at = ticksOf(now)
      const retryAfterMs = waitMs(rule, at, cost, capacity)
      if (retryAfterMs === 0 && cost > 0) rule.record(at, BigInt(cost))
      return verdict(at, retryAfterMs)
    },
    peek: (now, cost) => verdict(ticksOf(now), waitMs(rule, ticksOf(now), cost, capacity)),
    adjust: (now, units, takenAt) =>
      units === 0 ? 0 : rule.adjust(ticksOf(now), BigInt(units), ticksOf(Math.min(now, takenAt))),
  }
}

function ruleOf(policy: Policy): Rule {
  if (policy.calendar) throw new RangeError(`policy '${policy.name}': no model keeps a calendar`)
  if (policy.algorithm === 'fixed-window') return fixedWindowRule(policy)
  if (policy.algorithm === 'sliding-log') return logRule(policy)
  if (policy.algorithm === 'sliding-window') {
    return (policy.slices ?? 1) === 1 ? twoEpochRule(policy) : slicedWindowRule(policy)
  }
  // a bucket that drains and a schedule of arrivals are two books about the same promise
  return bucketRule(policy)
}

/** Finds the first whole ms at which the cost fits, by trying: once it fits, it keeps fitting. */
function waitMs(rule: Rule, now: bigint, cost: number, capacity: number): number {
  const fitsAfter = (ms: bigint): boolean => cost === 0 || rule.fits(now + ms * TICKS_PER_MS, BigInt(cost))
  if (fitsAfter(0n)) return 0
  if (cost > capacity) return Number.POSITIVE_INFINITY
  let fits = 1n
  while (!fitsAfter(fits)) fits *= 2n
  let fails = fits / 2n
  while (fits - fails > 1n) {
    const middle = (fits + fails) / 2n
    if (fitsAfter(middle)) fits = middle
    else fails = middle
  }
  return Number(fits)
}

function remaining(rule: Rule, now: bigint, capacity: number): number {
  let fits = 0n
  let fails = BigInt(capacity) + 1n
  while (fails - fits > 1n) {
    const middle = (fits + fails) / 2n
    if (rule.fits(now, middle)) fits = middle
    else fails = middle
  }
  return Number(fits)
}
