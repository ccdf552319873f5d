import type { Policy } from '@sluice/limiter-core'
import { drainPerMs } from '@sluice/limiter-core/backend'

/**
 * How one policy denies requests before another one does. `always`: the other policy never denies a request that this one
 * allows. `nearly`: it does so only because its windows begin at other times.
 */
export type Strictness = 'always' | 'nearly'

/**
 * Returns how `strict` denies before `lenient`, if both count the same units and `strict` counts at least the requests of
 * `lenient`; undefined if `lenient` can deny first. `isSameTraffic`: both count the same requests under the same keys.
 */
export function strictnessOf(strict: Policy, lenient: Policy, isSameTraffic: boolean): Strictness | undefined {
  if (staysWithin(strict, lenient)) return 'always'
  const isSmaller = strict.limit <= lenient.limit && atOnce(strict) <= atOnce(lenient)
  if (!isSameCount(strict, lenient) || !isSmaller) return undefined
  return isSameTraffic || countsAnyTraffic(strict) ? 'always' : 'nearly'
}

/** Whether fewer requests never lead to a larger count: the count does not depend on when a window began. */
function countsAnyTraffic(policy: Policy): boolean {
  return policy.algorithm === 'sliding-log' || drainPerMs(policy) > 0
}

/** Whether both count in the same way, so that the count of `lenient` is never above the count of `strict`. */
function isSameCount(strict: Policy, lenient: Policy): boolean {
  const { algorithm, windowMs, slices = 1 } = strict
  return algorithm === lenient.algorithm && windowMs === lenient.windowMs && slices === (lenient.slices ?? 1)
}

/** Whether all units that `strict` can admit fit `lenient`. */
function staysWithin(strict: Policy, lenient: Policy): boolean {
  const { algorithm, limit, windowMs, slices = 1 } = lenient
  const burst = mostIn(strict, 0)
  if (drainPerMs(lenient) > 0) {
    return burst <= atOnce(lenient) && strict.limit / strict.windowMs <= drainPerMs(lenient)
  }
  // one slice: the last window counts in part, whenever its units were taken
  if (algorithm === 'sliding-window' && slices === 1) return mostIn(strict, windowMs) + burst <= limit
  return mostIn(strict, algorithm === 'sliding-window' ? windowMs * (1 + 1 / slices) : windowMs) <= limit
}

/** Returns the largest number of units that a policy admits in an interval of this length. */
function mostIn(policy: Policy, intervalMs: number): number {
  const { algorithm, limit, windowMs, slices = 1 } = policy
  if (drainPerMs(policy) > 0) return atOnce(policy) + drainPerMs(policy) * intervalMs
  const windows = Math.max(1, Math.ceil(intervalMs / windowMs))
  // an interval can contain the end of one window and the start of another
  const isWhole = algorithm === 'sliding-log' || slices > 1
  return limit * (isWhole ? windows : windows + 1)
}

function atOnce({ burst, limit }: Policy): number {
  return burst ?? limit
}
