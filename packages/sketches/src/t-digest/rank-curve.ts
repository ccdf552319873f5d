import { between, shareOfWay } from './between.ts'
import type { WeightedValues } from './weighted-values.ts'

/**
 * Centroids as a rising curve of the value over the rank, which `quantileOf` and `cdfOf` read in both directions.
 *
 * value ┌──●── A centroid of one value, and those at both ends whatever they weigh, are known: level
 *                 ╱●╱──┘ over all of their ranks. Any other is a point at the middle of its ranks, and straight
 *     ──●──┐ ╱●╱ lines connect each point with the next.
 *          └╱ rank
 */
function isKnown(centroids: WeightedValues, at: number): boolean {
  return centroids.weights[at] === 1 || at === 0 || at === centroids.used - 1
}

/**
 * Returns the value at rank q·count, counted from 0: among known values the one whose ranks start there. NaN if there
 * are no values.
 */
export function quantileOf(centroids: WeightedValues, count: number, q: number): number {
  const { values, weights, used } = centroids
  const rank = q * count
  let before = 0
  let levelEnd = 0
  for (let at = 0; at < used; at++) {
    const half = isKnown(centroids, at) ? 0 : weights[at] / 2
    const begin = before + half
    before += weights[at]
    const end = before - half
    if (rank < end) {
      if (rank >= begin) return values[at]
      return between(values[at - 1], values[at], (rank - levelEnd) / (begin - levelEnd))
    }
    levelEnd = end
  }
  return used === 0 ? Number.NaN : values[used - 1]
}

/** Returns the fraction of values below `x`, plus half of those equal to `x`. NaN if there are no values. */
export function cdfOf(centroids: WeightedValues, count: number, x: number): number {
  const { values, weights, used } = centroids
  if (used === 0) return Number.NaN
  let before = 0
  let levelEnd = 0
  let at = 0
  for (; at < used && values[at] < x; at++) {
    before += weights[at]
    levelEnd = isKnown(centroids, at) ? before : before - weights[at] / 2
  }
  if (at === 0 && x < values[0]) return 0
  if (at === used) return 1
  if (values[at] === x) return (before + weightOfEqual(centroids, at) / 2) / count
  const begin = isKnown(centroids, at) ? before : before + weights[at] / 2
  return (levelEnd + (begin - levelEnd) * shareOfWay(values[at - 1], values[at], x)) / count
}

function weightOfEqual({ values, weights, used }: WeightedValues, from: number): number {
  let weight = 0
  for (let at = from; at < used && values[at] === values[from]; at++) weight += weights[at]
  return weight
}
