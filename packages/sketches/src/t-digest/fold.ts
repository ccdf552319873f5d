import { between } from './between.ts'
import type { WeightedValues } from './weighted-values.ts'

// a local constant: in a vm context, such as a jest test, each look-up of the global Math is expensive
const min = Math.min

/**
 * How resolution is distributed over the quantiles q. `k1`: δ/(2π)·asin(2q - 1); `k2`: δ/Z·ln(q/(1 - q)) with Z =
 * 4·ln(n/δ) + 24, where δ is the compression and n the count. `k2` is finer at both ends.
 */
export type DigestScale = 'k1' | 'k2'

/** Parameters of a fold: the limit of weights, and which end to start from. */
interface FoldRule {
  readonly compression: number
  readonly scale: DigestScale
  /** Total weight of all values. */
  readonly count: number
  readonly backwards: boolean
}

/**
 * Returns the largest number of centroids that a fold may leave. Two neighbours together exceed the weight of one, so
 * there are at most 2·δ between the ends; the ends add the rest of the geometric series by which weights grow there,
 * which dominates if δ is far below ln(n).
 */
export function centroidRoom(compression: number): number {
  return 2 * compression + 60
}

/**
 * Merges ascending values into as few centroids as the scale allows: the merging digest of Dunning and Ertl
 * (arXiv:1902.04023). The weight of a centroid is limited by the scale at both of its ends; it is 0 at q = 0 and q =
 * 1, so that the first and last values are kept unchanged.
 */
export function fold(ascending: WeightedValues, rule: FoldRule, into: WeightedValues): void {
  const { count, backwards } = rule
  const step = backwards ? -1 : 1
  const squared = rule.scale === 'k1'
  const factor = weightFactor(rule)
  const room = into.values.length
  const first = backwards ? ascending.used - 1 : 0
  let at = backwards ? room : -1
  // weight before the last centroid, its own, and how much the scale allows at the end that it began at
  let before = 0
  let weight = 0
  let allowed = 0
  for (let n = 0; n < ascending.used; n++) {
    const value = ascending.values[first + n * step]
    const added = ascending.weights[first + n * step]
    const proposed = weight + added
    const end = before + proposed
    const most = factor * min(allowed, end * (count - end))
    if (proposed * (squared ? proposed : 1) <= most) {
      into.values[at] = between(into.values[at], value, added / proposed)
      weight = proposed
    } else {
      before += weight
      allowed = before * (count - before)
      weight = added
      at += step
      into.values[at] = value
    }
    into.weights[at] = weight
  }
  if (backwards) moveToFront(into, at)
  else into.used = at + 1
}

/**
 * Between a weight of a before a point and b after it, a centroid may weigh factor·a·b; for k1, that applies to its
 * square.
 */
function weightFactor({ scale, compression, count }: FoldRule): number {
  if (scale === 'k1') return (2 * Math.sin(Math.PI / compression)) ** 2
  return (4 * Math.log(count / compression) + 24) / (compression * count)
}

function moveToFront(into: WeightedValues, from: number): void {
  into.values.copyWithin(0, from)
  into.weights.copyWithin(0, from)
  into.used = into.values.length - from
}
