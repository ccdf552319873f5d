import { type AdaptiveLimit, checkedUnits, isAdaptive, SluiceError } from '@sluice/limiter-core/http'

/** Returns the largest limit of a cap; infinity if it is invalid, which its limiter reports. */
function largestOf(limit: number | AdaptiveLimit): number {
  if (typeof limit === 'number') return limit
  return isAdaptive(limit) ? limit.max : Number.POSITIVE_INFINITY
}

/** Throws `SLUICE_BAD_LIMIT` if the weight is invalid, or above the limit so that no request could ever pass. */
export function fittingWeight(weight: unknown, cap: number | AdaptiveLimit): void {
  const limit = largestOf(cap)
  if (!(checkedUnits(weight, 'weight') > limit)) return
  throw new SluiceError(
    'SLUICE_BAD_LIMIT',
    `weight: expected at most ${limit} (the limit of the cap), received ${weight}`,
  )
}
