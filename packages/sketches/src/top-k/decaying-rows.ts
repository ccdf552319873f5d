import { FULL } from '../cells.ts'
import { KeyRows } from '../key-rows.ts'
import type { SketchSeed } from '../sketch-seed.ts'
import type { Decay } from './decay.ts'

// odd, and far from the number of a row: two keys that share a bucket of a row share their fingerprint by chance alone
const SPREAD = 0x9e3779b1

/**
 * Rows of buckets that each count one key, identified by a 32-bit fingerprint. A key that finds its bucket occupied
 * decrements the count, and takes the bucket when it reaches 0.
 */
export class DecayingRows {
  readonly width: number
  readonly depth: number
  readonly fingerprints: Uint32Array
  /** 0: the bucket is free. Full at 2^32 - 1. */
  readonly counts: Uint32Array
  readonly #rows: KeyRows
  readonly #seed: SketchSeed
  readonly #decay: Decay
  #fingerprint = 0

  constructor(width: number, depth: number, seed: SketchSeed, decay: Decay) {
    this.width = width
    this.depth = depth
    this.#rows = new KeyRows(width, depth, seed)
    this.#seed = seed
    this.#decay = decay
    this.fingerprints = new Uint32Array(width * depth)
    this.counts = new Uint32Array(width * depth)
  }

  /** `amount`: 1 or more. Returns the largest count of the key; 0 if it has no bucket. */
  add(key: string, amount: number): number {
    this.#aim(key)
    const { depth } = this
    const { at } = this.#rows
    let most = 0
    for (let row = 0; row < depth; row++) {
      const count = this.#addAt(at[row], amount)
      if (count > most) most = count
    }
    return most
  }

  /** The largest count that the key has; 0 where it has no bucket. */
  estimate(key: string): number {
    this.#aim(key)
    const { depth, fingerprints, counts } = this
    const { at } = this.#rows
    let most = 0
    for (let row = 0; row < depth; row++) {
      const bucket = at[row]
      if (fingerprints[bucket] === this.#fingerprint && counts[bucket] > most) most = counts[bucket]
    }
    return most
  }

  /**
   * Merges buckets: with equal fingerprints the sum, which does not exceed the true count of both; with different
   * ones the larger, unchanged. The result does not depend on which side is merged into the other.
   */
  merge(other: DecayingRows): void {
    const { counts, fingerprints } = this
    for (let bucket = 0; bucket < counts.length; bucket++) {
      const mine = counts[bucket]
      const theirs = other.counts[bucket]
      const fingerprint = other.fingerprints[bucket]
      if (mine > 0 && theirs > 0 && fingerprints[bucket] === fingerprint)
        counts[bucket] = Math.min(mine + theirs, FULL[32])
      else if (theirs > mine || (theirs === mine && fingerprint > fingerprints[bucket])) {
        counts[bucket] = theirs
        fingerprints[bucket] = fingerprint
      }
    }
  }

  clear(): void {
    this.fingerprints.fill(0)
    this.counts.fill(0)
  }

  #aim(key: string): void {
    const { low, high } = this.#seed.hashOf(key)
    this.#rows.aimAt(low, high)
    this.#fingerprint = (low + Math.imul(high, SPREAD)) >>> 0
  }

  #addAt(bucket: number, amount: number): number {
    const { counts } = this
    const count = counts[bucket]
    if (count > 0 && this.fingerprints[bucket] !== this.#fingerprint) return this.#challenge(bucket, amount)
    this.fingerprints[bucket] = this.#fingerprint
    counts[bucket] = Math.min(count + amount, FULL[32])
    return counts[bucket]
  }

  /** A stranger's bucket: the unit that takes the last of its count is the first that counts for the key. */
  #challenge(bucket: number, amount: number): number {
    const left = amount === 1 ? this.#strike(bucket) : this.#strikes(bucket, amount)
    if (left === 0) return 0
    this.fingerprints[bucket] = this.#fingerprint
    this.counts[bucket] = Math.min(left, FULL[32])
    return this.counts[bucket]
  }

  #strike(bucket: number): number {
    const { counts } = this
    if (!this.#decay.hits(counts[bucket])) return 0
    counts[bucket]--
    return counts[bucket] === 0 ? 1 : 0
  }

  /** Returns how many of the units count for the key; 0 if the bucket was not emptied. */
  #strikes(bucket: number, amount: number): number {
    const decay = this.#decay
    let count = this.counts[bucket]
    let left = amount
    if (decay.base === 1) {
      // every unit hits: no need to draw them one by one
      this.counts[bucket] = Math.max(count - amount, 0)
      return Math.max(amount - count + 1, 0)
    }
    while (count > 0) {
      const units = decay.unitsToHit(count)
      if (units > left) break
      left -= units
      count--
    }
    this.counts[bucket] = count
    return count > 0 ? 0 : left + 1
  }
}
