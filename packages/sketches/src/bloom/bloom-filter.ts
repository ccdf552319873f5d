import { foreignSketch } from '../foreign-sketch.ts'
import type { Sketch } from '../sketch.ts'
import { HEADER_BYTES, type SketchBuffer } from '../sketch-buffer.ts'
import type { SeedOption, SketchKey, SketchSeed } from '../sketch-seed.ts'
import { BloomBuffer } from './bloom-buffer.ts'
import { cellAt, onesIn, startOf, united } from './bloom-cells.ts'
import type { BloomOptions } from './bloom-options.ts'
import { keysBehind, rateAfter } from './bloom-rate.ts'
import { bloomShape } from './bloom-shape.ts'

const KIND = { kind: 'bloom', owner: 'BloomFilter', bitsACell: 1 } as const

/**
 * Tests whether a key was added. Never wrong about a key that was added, and wrong about a stated fraction of other
 * keys (Bloom 1970). At a rate of 0.01 a key sets 7 bits and the filter has 9.6 bits per key.
 *
 * Bit i of a key is at `scatterBits(start + i · high)` of the halves of its hash: double hashing (Kirsch and
 * Mitzenmacher 2006) with a finaliser, because without one two keys that share two bits share all bits.
 */
export class BloomFilter implements Sketch<BloomFilter> {
  readonly seed: SketchSeed
  /** Number of different keys for which the filter was built. */
  readonly capacity: number
  /** Number of bits in the filter. */
  readonly bits: number
  /** Number of bits that a key sets. */
  readonly hashes: number
  readonly #kept: SketchBuffer
  readonly #words: Uint32Array
  readonly #scale: number
  #ones: number

  /** Throws `SLUICE_BAD_OPTION`, also where it would take more than 512 MiB, and `SLUICE_BAD_SEED`. */
  constructor(options: BloomOptions) {
    const made = options instanceof BloomBuffer ? options : BloomBuffer.create(KIND, options, bloomShape)
    this.seed = made.seed
    this.capacity = made.capacity
    this.bits = made.cells
    this.hashes = made.hashes
    this.#kept = made.kept
    this.#words = made.words
    this.#scale = made.cells / 0x1_0000_0000
    this.#ones = onesIn(made.words)
  }

  /**
   * Reads the result of `toBytes`. Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` if it was filled with
   * another seed.
   */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): BloomFilter {
    return new BloomFilter(BloomBuffer.read(KIND, bytes, options))
  }

  /** Adds a key. Returns false if the filter already contained it, or seemed to. */
  add(key: SketchKey): boolean {
    const { low, high } = this.seed.hashOf(key)
    const words = this.#words
    const scale = this.#scale
    const step = high | 1
    let fresh = 0
    for (let left = this.hashes, x = startOf(low, high); left > 0; left--, x = (x + step) | 0) {
      const at = cellAt(x, high, scale)
      const bit = at & 31
      const was = words[at >>> 5]
      // without a branch: whether a bit is set cannot be predicted for a half-full filter
      fresh += ~(was >>> bit) & 1
      words[at >>> 5] = was | (1 << bit)
    }
    if (fresh > 0) this.#ones += fresh
    return fresh > 0
  }

  /** False: it was never added. True: it was, or it is one of `falsePositiveRate` of all others. */
  has(key: SketchKey): boolean {
    const { low, high } = this.seed.hashOf(key)
    const words = this.#words
    const scale = this.#scale
    const step = high | 1
    for (let left = this.hashes, x = startOf(low, high); left > 0; left--, x = (x + step) | 0) {
      const at = cellAt(x, high, scale)
      if ((words[at >>> 5] & (1 << (at & 31))) === 0) return false
    }
    return true
  }

  /** Estimated number of different keys that were added, from the bits that are set. Infinity if all bits are set. */
  get size(): number {
    return keysBehind(this.#ones, this.bits, this.hashes)
  }

  /** The part of all other keys that it takes for added ones now. */
  get falsePositiveRate(): number {
    return (this.#ones / this.bits) ** this.hashes
  }

  /** `falsePositiveRate` once it holds `capacity` keys: at most the one that it was built for. */
  get statedRate(): number {
    return rateAfter(this.capacity * this.hashes, this.bits, this.hashes)
  }

  /** Bytes of memory, and of `toBytes`. */
  get bytes(): number {
    return HEADER_BYTES + this.#words.byteLength
  }

  /** Adds all keys of a filter of the same options and seed. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: BloomFilter): void {
    const { seed } = this
    const same = #kept in Object(other) ? other : foreignSketch(BloomFilter, other, { seed })
    this.#kept.checkMatch(same.#kept)
    this.#ones = united(this.#words, same.#words)
  }

  clear(): void {
    this.#kept.clear()
    this.#ones = 0
  }

  toBytes(): Uint8Array {
    return this.#kept.toBytes()
  }
}
