import type { TDigest } from '@sluice/sketches'

/**
 * Returns the error of a quantile as a share of all ranks: the distance from `q` to the ranks of the answer, or of the
 * two values of the stream around it. `sorted`: the whole stream.
 */
export function rankError(digest: TDigest, sorted: Float64Array, q: number): number {
  const answer = digest.quantile(q)
  const below = sorted[countBelow(sorted, answer, true) - 1] ?? sorted[0]
  const above = sorted[countBelow(sorted, answer, false)] ?? sorted[sorted.length - 1]
  const rank = q * sorted.length
  const least = countBelow(sorted, below ?? answer, false)
  const most = countBelow(sorted, above ?? answer, true)
  return Math.max(0, least - rank, rank - most) / sorted.length
}

/** Counts the values less than `x`, or less than or equal to `x`. */
function countBelow(sorted: Float64Array, x: number, orEqual: boolean): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const value = sorted[middle] as number
    if (value < x || (orEqual && value === x)) low = middle + 1
    else high = middle
  }
  return low
}
