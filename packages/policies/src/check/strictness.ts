import type { Policy } from '@sluice/limiter-core'
import { drainPerMs } from '@sluice/limiter-core/backend'

/**
 * Whether `lenient` never denies a request that `strict` allows, if both count the same units and `strict` counts at least
 * the requests of `lenient`. Returns false if that is not certain.
 */
export function isAtLeastAsStrict(strict: Policy, lenient: Policy): boolean {
  return isSameCount(strict, lenient)
    ? strict.limit <= lenient.limit && atOnce(strict) <= atOnce(lenient)
    : staysWithin(strict, lenient)
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
