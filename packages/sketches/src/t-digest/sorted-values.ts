import { WeightedValues } from './weighted-values.ts'

/** Runs that are sorted by insertion before they are merged. A power of two. */
const RUN = 16

// two buffers between which the merge sort alternates. Shared by all digests: they contain nothing between two calls
let near = new WeightedValues(512)
let far = new WeightedValues(512)

/**
 * Merges the values of `fresh` with the ordered ones of `sorted` in ascending order; equal values are ordered by
 * weight, so that their order of arrival does not matter. The result is valid until the next call. A merge sort: no
 * order of arrival makes it slow, and without branches on comparisons it takes two thirds of the time of
 * `Float64Array.prototype.sort`.
 */
export function sortedValues(fresh: WeightedValues, sorted: WeightedValues): WeightedValues {
  const { used } = fresh
  const total = used + sorted.used
  if (near.values.length < total) {
    near = new WeightedValues(total)
    far = new WeightedValues(total)
  }
  sortRuns(fresh, near)
  for (let width = RUN; width < used; width *= 2) {
    for (let low = 0; low < used; low += 2 * width) {
      mergeRuns(low, Math.min(low + width, used), Math.min(low + 2 * width, used))
    }
    turn()
  }
  near.used = used
  for (let at = 0; at < sorted.used; at++) near.push(sorted.values[at], sorted.weights[at])
  mergeRuns(0, used, total)
  turn()
  near.used = total
  return near
}

function turn(): void {
  const other = near
  near = far
  far = other
}

function sortRuns(given: WeightedValues, into: WeightedValues): void {
  const { values, weights } = into
  for (let from = 0; from < given.used; from += RUN) {
    const end = Math.min(from + RUN, given.used)
    for (let i = from; i < end; i++) {
      const value = given.values[i]
      const weight = given.weights[i]
      let at = i
      for (; at > from; at--) {
        const before = values[at - 1]
        if (before < value || (before === value && weights[at - 1] <= weight)) break
        values[at] = before
        weights[at] = weights[at - 1]
      }
      values[at] = value
      weights[at] = weight
    }
  }
}

/** Merges `[low, middle)` and `[middle, high)` of the near side to the far one. */
function mergeRuns(low: number, middle: number, high: number): void {
  const { values, weights } = near
  const { values: toValues, weights: toWeights } = far
  let left = low
  let right = middle
  let at = low
  while (left < middle && right < high) {
    const x = values[left]
    const y = values[right]
    // 1 if the left one comes first: computing an index from it costs less than a branch that is mispredicted half the
    // time
    const first = +(x < y) | (+(x === y) & +(weights[left] <= weights[right]))
    const chosen = right + ((left - right) & -first)
    toValues[at] = values[chosen]
    toWeights[at++] = weights[chosen]
    left += first
    right += 1 - first
  }
  for (; left < middle; left++, at++) {
    toValues[at] = values[left]
    toWeights[at] = weights[left]
  }
  for (; right < high; right++, at++) {
    toValues[at] = values[right]
    toWeights[at] = weights[right]
  }
}
