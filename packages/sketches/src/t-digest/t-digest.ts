import { foreignSketch } from '../foreign-sketch.ts'
import type { Sketch } from '../sketch.ts'
import { checkOptions, described, SketchError, wholeAmount, wholeOption } from '../sketch-error.ts'
import {
  bufferRoom,
  type DigestState,
  digestBytes,
  MAX_COMPRESSION,
  MIN_COMPRESSION,
  readDigest,
} from './digest-bytes.ts'
import { centroidRoom, type DigestScale, fold } from './fold.ts'
import { cdfOf, quantileOf } from './rank-curve.ts'
import { sortedValues } from './sorted-values.ts'
import { WeightedValues } from './weighted-values.ts'

export interface TDigestOptions {
  /** δ: approximate number of centroids, from 10 to 1,000. Default: 100. */
  readonly compression?: number | undefined
  /** Default: `k2`, the finest at both ends. `k1` is finer in the middle. */
  readonly scale?: DigestScale | undefined
}

const READ = { name: 'TDigest', fromBytes: readDigest }

/** Values that were taken together: their mean, and how many they are. */
export interface Centroid {
  readonly mean: number
  readonly weight: number
}

/**
 * Quantiles of a stream of numbers in a few kilobytes: a merging t-digest (Dunning and Ertl, arXiv:1902.04023).
 *
 * Values wait in a buffer of 5·δ and are then folded into at most about δ centroids, alternately from the lower and
 * the upper end. Until two values have been merged, all results are exact; after that the rank of a quantile is off
 * by at most about the weight of one centroid: Z·q(1 - q)/δ of all values with `k2`, 2·sin(π/δ)·√(q(1 - q)) with
 * `k1`, and by less than a quarter of that on ordinary streams, merged or not. Reading changes nothing: later results
 * do not depend on earlier reads.
 */
export class TDigest implements Sketch<TDigest> {
  #state: DigestState
  /** Target of a fold, and the data that is read: the folded `#state`, while `#folded` is true. */
  #view: WeightedValues
  #folded = true

  /** Throws `SLUICE_BAD_OPTION`. */
  constructor(options: TDigestOptions = {}) {
    checkOptions('TDigest', options, ['compression', 'scale'])
    const { compression = 100, scale = 'k2' } = options
    wholeOption('compression', compression, MIN_COMPRESSION, MAX_COMPRESSION)
    if (scale !== 'k1' && scale !== 'k2') {
      throw new SketchError('SLUICE_BAD_OPTION', `scale: expected 'k1' or 'k2', received ${described(scale)}`)
    }
    const room = centroidRoom(compression)
    const fresh = new WeightedValues(bufferRoom(compression))
    this.#state = { compression, scale, backwards: false, count: 0, centroids: new WeightedValues(room), fresh }
    this.#view = new WeightedValues(room)
  }

  /** Reads the result of `toBytes`. Throws `SLUICE_BAD_BYTES`. */
  static fromBytes(bytes: Uint8Array): TDigest {
    const state = readDigest(bytes)
    const digest = new TDigest({ compression: state.compression, scale: state.scale })
    digest.#state = state
    digest.#folded = false
    return digest
  }

  get compression(): number {
    return this.#state.compression
  }

  get scale(): DigestScale {
    return this.#state.scale
  }

  /** Number of values that were added, each counted by its weight. Exact. */
  get count(): number {
    return this.#state.count
  }

  /** The smallest value. Exact; NaN if there are no values. */
  get min(): number {
    return this.quantile(0)
  }

  /** The largest value. Exact; NaN if there are no values. */
  get max(): number {
    return this.quantile(1)
  }

  /**
   * `weight`: how often `value` was seen, a whole number from 1. Throws `SLUICE_BAD_AMOUNT` where `value` is not a finite
   * number, and where the count would pass 2^53 - 1.
   */
  add(value: number, weight = 1): void {
    if (!Number.isFinite(value)) {
      throw new SketchError('SLUICE_BAD_AMOUNT', `value: expected a finite number, received ${described(value)}`)
    }
    this.#checkCount(wholeAmount(weight, 1))
    this.#push(value, weight)
  }

  /**
   * Returns the value below which the fraction `q` of all values lies, `q` from 0 to 1; NaN if there are no values.
   * Throws `SLUICE_BAD_AMOUNT`.
   */
  quantile(q: number): number {
    if (!(typeof q === 'number' && q >= 0 && q <= 1)) {
      throw new SketchError('SLUICE_BAD_AMOUNT', `q: expected a number from 0 to 1, received ${described(q)}`)
    }
    return quantileOf(this.#read(), this.#state.count, q)
  }

  /**
   * Returns the fraction of values below `x`, plus half of those equal to `x`; NaN if there are no values. Throws
   * `SLUICE_BAD_AMOUNT` for NaN.
   */
  cdf(x: number): number {
    if (typeof x !== 'number' || Number.isNaN(x)) {
      throw new SketchError('SLUICE_BAD_AMOUNT', `x: expected a number, received ${described(x)}`)
    }
    return cdfOf(this.#read(), this.#state.count, x)
  }

  /** Returns the centroids in ascending order. */
  centroids(): Centroid[] {
    const { values, weights, used } = this.#read()
    return Array.from({ length: used }, (_, at) => ({ mean: values[at], weight: weights[at] }))
  }

  /**
   * Adds the centroids and the buffered values of `other`. Throws `SLUICE_SKETCH_MISMATCH` if its compression or
   * scale differs, and `SLUICE_BAD_AMOUNT` if the count would exceed 2^53 - 1.
   */
  merge(other: TDigest): void {
    // always by its bytes, since it may be this one
    const { compression, scale, count, centroids, fresh } = foreignSketch(READ, other)
    if (compression !== this.compression || scale !== this.scale) {
      throw new SketchError('SLUICE_SKETCH_MISMATCH', `the other one has compression ${compression} and scale ${scale}`)
    }
    this.#checkCount(count)
    for (const { values, weights, used } of [centroids, fresh]) {
      for (let at = 0; at < used; at++) this.#push(values[at], weights[at])
    }
  }

  /**
   * Folds the buffered values now. Results do not change, and `toBytes` becomes as short as possible: 64 bytes plus
   * 16 per centroid.
   */
  compress(): void {
    if (this.#state.fresh.used === 0) return
    const folded = this.#read()
    this.#view = this.#state.centroids
    this.#state.centroids = folded
    this.#state.fresh.used = 0
    this.#state.backwards = !this.#state.backwards
    this.#folded = false
  }

  clear(): void {
    this.#state.centroids.used = 0
    this.#state.fresh.used = 0
    this.#state.backwards = false
    this.#state.count = 0
    this.#folded = false
  }

  toBytes(): Uint8Array {
    return digestBytes(this.#state)
  }

  #checkCount(added: number): void {
    if (this.#state.count + added <= Number.MAX_SAFE_INTEGER) return
    throw new SketchError('SLUICE_BAD_AMOUNT', `count: expected at most 2^53 - 1 in total, received ${added} more`)
  }

  #push(value: number, weight: number): void {
    const { fresh } = this.#state
    if (fresh.used === fresh.values.length) this.compress()
    // + 0 turns -0 into 0
    fresh.push(value + 0, weight)
    this.#state.count += weight
    this.#folded = false
  }

  /** Returns everything as centroids. */
  #read(): WeightedValues {
    const { centroids, fresh } = this.#state
    if (fresh.used === 0) return centroids
    if (!this.#folded) {
      fold(sortedValues(fresh, centroids), this.#state, this.#view)
      this.#folded = true
    }
    return this.#view
  }
}
