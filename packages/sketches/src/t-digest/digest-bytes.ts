import { HEADER_BYTES, SketchBuffer } from '../sketch-buffer.ts'
import { SketchError } from '../sketch-error.ts'
import { centroidRoom, type DigestScale } from './fold.ts'
import { WeightedValues } from './weighted-values.ts'

export const MIN_COMPRESSION = 10
export const MAX_COMPRESSION = 1_000

/** Values that may wait. Five times the centroids: the price of a fold is shared by that many. */
export function bufferRoom(compression: number): number {
  return 5 * compression
}

/** All that a digest is. */
export interface DigestState {
  readonly compression: number
  readonly scale: DigestScale
  /** Whether the next fold starts at the upper end. */
  backwards: boolean
  /** Total weight of all values. */
  count: number
  centroids: WeightedValues
  /** Values that have not been folded yet, in the order of arrival. */
  readonly fresh: WeightedValues
}

const BACKWARDS = 1
const SCALE_K2 = 2

/**
 * The shape is compression, flags (1: the next fold begins at the end, 2: scale k2), number of centroids, number of
 * values that wait. Then their values and their weights, each a float64: centroids first.
 */
export function digestBytes({ compression, scale, backwards, centroids, fresh }: DigestState): Uint8Array {
  const flags = (backwards ? BACKWARDS : 0) | (scale === 'k2' ? SCALE_K2 : 0)
  const count = centroids.used + fresh.used
  const made = SketchBuffer.create('tDigest', 16 * count, { shape: [compression, flags, centroids.used, fresh.used] })
  const kept = new Float64Array(made.buffer, HEADER_BYTES)
  kept.set(centroids.values.subarray(0, centroids.used), 0)
  kept.set(fresh.values.subarray(0, fresh.used), centroids.used)
  kept.set(centroids.weights.subarray(0, centroids.used), count)
  kept.set(fresh.weights.subarray(0, fresh.used), count + centroids.used)
  return new Uint8Array(made.buffer)
}

/** Reads the result of `digestBytes`. Throws `SLUICE_BAD_BYTES` if no digest can have written it. */
export function readDigest(bytes: Uint8Array): DigestState {
  const read = SketchBuffer.read('tDigest', bytes, keptBytes)
  const [compression, flags, centroidsUsed, freshUsed] = [0, 1, 2, 3].map((n) => read.shape(n))
  const kept = new Float64Array(read.buffer, HEADER_BYTES)
  const centroids = new WeightedValues(centroidRoom(compression))
  const fresh = new WeightedValues(bufferRoom(compression))
  const total = centroidsUsed + freshUsed
  for (let at = 0; at < total; at++) (at < centroidsUsed ? centroids : fresh).push(kept[at], kept[total + at])
  const summed = weightChecked(centroids) + weightChecked(fresh)
  if (!Number.isSafeInteger(summed)) throw bad('the weights pass 2^53 - 1')
  checkOrder(centroids)
  const scale = (flags & SCALE_K2) === 0 ? 'k1' : 'k2'
  return { compression, scale, backwards: (flags & BACKWARDS) !== 0, count: summed, centroids, fresh }
}

function keptBytes([compression, flags, centroids, fresh]: readonly number[]): number | undefined {
  if (compression < MIN_COMPRESSION || compression > MAX_COMPRESSION) return undefined
  if (flags > (BACKWARDS | SCALE_K2)) return undefined
  if (centroids > centroidRoom(compression) || fresh > bufferRoom(compression)) return undefined
  return 16 * (centroids + fresh)
}

/** Returns the total weight; above 2^53 - 1 it is not a safe integer. */
function weightChecked({ values, weights, used }: WeightedValues): number {
  let sum = 0
  for (let at = 0; at < used; at++) {
    if (!Number.isFinite(values[at])) throw bad('a value is not finite')
    if (!(Number.isSafeInteger(weights[at]) && weights[at] > 0)) throw bad('a weight is no whole number from 1')
    sum += weights[at]
  }
  return sum
}

function checkOrder({ values, used }: WeightedValues): void {
  for (let at = 1; at < used; at++) if (values[at] < values[at - 1]) throw bad('the centroids are out of order')
}

function bad(why: string): SketchError {
  return new SketchError('SLUICE_BAD_BYTES', why)
}
