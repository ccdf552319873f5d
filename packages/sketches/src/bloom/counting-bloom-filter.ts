import { foreignSketch } from '../foreign-sketch.ts'
import type { Sketch } from '../sketch.ts'
import { HEADER_BYTES, type SketchBuffer } from '../sketch-buffer.ts'
import type { SeedOption, SketchKey, SketchSeed } from '../sketch-seed.ts'
import { BloomBuffer } from './bloom-buffer.ts'
import { cellAt, countersIn, startOf } from './bloom-cells.ts'
import type { BloomOptions } from './bloom-options.ts'
import { keysBehind, rateAfter } from './bloom-rate.ts'
import { bloomShape } from './bloom-shape.ts'

const KIND = { kind: 'countingBloom', owner: 'CountingBloomFilter', bitsACell: 4 } as const
const FULL = 15

/**
 * A `BloomFilter` with 4-bit counters instead of bits, so that keys can be removed, at four times the memory (Fan,
 * Cao, Almeida and Broder 2000). A full counter stays full, because its count is no longer known and a decrement
 * could remove a key that is still contained. With the optimal number of hashes that happens to one of 10¹⁵ counters.
 *
 * A key that was added n times is contained until it has been removed n times.
 */
export class CountingBloomFilter implements Sketch<CountingBloomFilter> {
  readonly seed: SketchSeed
  /** Number of different keys for which the filter was built. */
  readonly capacity: number
  readonly counters: number
  /** Number of counters that a key uses. */
  readonly hashes: number
  readonly #kept: SketchBuffer
  readonly #words: Uint32Array
  readonly #scale: number
  /** Counters that are not 0. */
  #taken: number

  /** Throws `SLUICE_BAD_OPTION`, also where it would take more than 512 MiB, and `SLUICE_BAD_SEED`. */
  constructor(options: BloomOptions) {
    const made = options instanceof BloomBuffer ? options : BloomBuffer.create(KIND, options, bloomShape)
    this.seed = made.seed
    this.capacity = made.capacity
    this.counters = made.cells
    this.hashes = made.hashes
    this.#kept = made.kept
    this.#words = made.words
    this.#scale = made.cells / 0x1_0000_0000
    this.#taken = countersIn(made.words)
  }

  /**
   * Reads the result of `toBytes`. Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` if it was filled with
   * another seed.
   */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): CountingBloomFilter {
    return new CountingBloomFilter(BloomBuffer.read(KIND, bytes, options))
  }

  /** Adds a key, also if it is already contained. Returns false if the filter already contained it, or seemed to. */
  add(key: SketchKey): boolean {
    const { low, high } = this.seed.hashOf(key)
    return this.#count(low, high, this.hashes)
  }

  /**
   * Undoes one `add`. Returns false and changes nothing if the key is not contained. Only for keys that were added:
   * removing a false positive decrements counters of other keys, which `has` may then deny.
   */
  remove(key: SketchKey): boolean {
    const { low, high } = this.seed.hashOf(key)
    const words = this.#words
    const step = high | 1
    for (let done = 0, x = startOf(low, high); done < this.hashes; done++, x = (x + step) | 0) {
      const at = cellAt(x, high, this.#scale)
      const shift = (at & 7) << 2
      const count = (words[at >>> 3] >>> shift) & FULL
      if (count === 0) {
        this.#count(low, high, done)
        return false
      }
      if (count === FULL) continue
      words[at >>> 3] -= 1 << shift
      if (count === 1) this.#taken--
    }
    return true
  }

  /** False: it is not in. True: it is, or it is one of `falsePositiveRate` of all others. */
  has(key: SketchKey): boolean {
    const { low, high } = this.seed.hashOf(key)
    const words = this.#words
    const scale = this.#scale
    const step = high | 1
    for (let left = this.hashes, x = startOf(low, high); left > 0; left--, x = (x + step) | 0) {
      const at = cellAt(x, high, scale)
      if (((words[at >>> 3] >>> ((at & 7) << 2)) & FULL) === 0) return false
    }
    return true
  }

  /** Estimated number of different keys, from the counters that are not 0. Infinity if none is 0. */
  get size(): number {
    return keysBehind(this.#taken, this.counters, this.hashes)
  }

  /** The part of all other keys that it takes for added ones now. */
  get falsePositiveRate(): number {
    return (this.#taken / this.counters) ** this.hashes
  }

  /** `falsePositiveRate` once it holds `capacity` keys: at most the one that it was built for. */
  get statedRate(): number {
    return rateAfter(this.capacity * this.hashes, this.counters, this.hashes)
  }

  /** Bytes of memory, and of `toBytes`. */
  get bytes(): number {
    return HEADER_BYTES + this.#words.byteLength
  }

  /** Adds all keys of a filter of the same options and seed, each as often as it is in. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: CountingBloomFilter): void {
    const { seed } = this
    const same = #kept in Object(other) ? other : foreignSketch(CountingBloomFilter, other, { seed })
    this.#kept.checkMatch(same.#kept)
    const words = this.#words
    const others = same.#words
    for (let at = 0; at < words.length; at++) words[at] = summed(words[at], others[at])
    this.#taken = countersIn(words)
  }

  clear(): void {
    this.#kept.clear()
    this.#taken = 0
  }

  toBytes(): Uint8Array {
    return this.#kept.toBytes()
  }

  /** Increments the first `hashes` counters of a key. Returns false if none of them was 0. */
  #count(low: number, high: number, hashes: number): boolean {
    const words = this.#words
    const scale = this.#scale
    const step = high | 1
    let fresh = 0
    for (let left = hashes, x = startOf(low, high); left > 0; left--, x = (x + step) | 0) {
      const at = cellAt(x, high, scale)
      const shift = (at & 7) << 2
      const count = (words[at >>> 3] >>> shift) & FULL
      if (count === FULL) continue
      words[at >>> 3] += 1 << shift
      if (count === 0) fresh++
    }
    this.#taken += fresh
    return fresh > 0
  }
}

/** Counter by counter, and no further than full. */
function summed(a: number, b: number): number {
  if (b === 0) return a
  let sum = 0
  for (let shift = 0; shift < 32; shift += 4) {
    const count = ((a >>> shift) & FULL) + ((b >>> shift) & FULL)
    sum |= Math.min(count, FULL) << shift
  }
  return sum
}
