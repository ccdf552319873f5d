import { between } from './between.ts'
import type { WeightedValues } from './weighted-values.ts'

// by its name: in a vm context, such as a jest test, each look-up of the global Math is dear
const min = Math.min

/**
 * How fine a digest is along its quantiles q. `k1`: δ/(2π)·asin(2q - 1), `k2`: δ/Z·ln(q/(1 - q)) with
 * Z = 4·ln(n/δ) + 24, where δ is the compression and n the count. `k2` is finer at both ends.
 */
export type DigestScale = 'k1' | 'k2'

/** What a fold is told: the limit of weights, and from which end to begin. */
interface FoldRule {
  readonly compression: number
  readonly scale: DigestScale
  /** What all values weigh together. */
  readonly count: number
  readonly backwards: boolean
}

/**
 * Room for any centroids that a fold may leave. Two neighbours weigh more together than one may, so their number is
 * at most 2·δ between the ends; the ends add what is left of the geometric series by which weights grow there, and
 * for a δ far below ln(n) that series is all there is.
 */
export function centroidRoom(compression: number): number {
  return 2 * compression + 60
}

/**
 * Takes ascending values together to as few centroids as the scale allows: the merging digest of Dunning and Ertl
 * (arXiv:1902.04023). A centroid may weigh what the scale allows at both of its ends, whichever is less; that is
 * nothing at q = 0 and q = 1, so that the first and the last value always stay what they are.
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

/** With a of the count before a point and b after it, a centroid there may weigh factor·a·b; k1: its square may. */
function weightFactor({ scale, compression, count }: FoldRule): number {
  if (scale === 'k1') return (2 * Math.sin(Math.PI / compression)) ** 2
  return (4 * Math.log(count / compression) + 24) / (compression * count)
}

function moveToFront(into: WeightedValues, from: number): void {
  into.values.copyWithin(0, from)
  into.weights.copyWithin(0, from)
  into.used = into.values.length - from
}
