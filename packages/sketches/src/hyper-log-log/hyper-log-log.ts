import { foreignSketch } from '../foreign-sketch.ts'
import type { Sketch } from '../sketch.ts'
import { HEADER_BYTES, SketchBuffer } from '../sketch-buffer.ts'
import { checkOptions, SketchError, wholeOption } from '../sketch-error.ts'
import { type SeedOption, type SketchKey, type SketchSeed, seedOf } from '../sketch-seed.ts'
import { ertlEstimate } from './ertl-estimate.ts'

// by its name: in a vm context, such as a jest test, each look-up of the global Math costs more than a whole hash
const clz32: typeof Math.clz32 = Math.clz32

const LEAST = 4
const MOST = 18

export interface HyperLogLogOptions extends SeedOption {
  /** 2^precision registers of a byte: 4 to 18, default 14, which are 16 KiB and a standard error of 0.81 %. */
  readonly precision?: number | undefined
}

/**
 * Counts different keys in 2^p bytes, however many there are (Flajolet et al. 2007, with 64-bit hashes and Ertl's
 * estimator, arXiv:1702.01284).
 *
 * The first p bits of a key's hash choose a register, which stores the largest rank of its keys: the position of the
 * first 1 in the other bits. The standard error is 1.04 / sqrt(2^p) of the count, and less below 2^p keys.
 */
export class HyperLogLog implements Sketch<HyperLogLog> {
  readonly precision: number
  readonly seed: SketchSeed
  readonly #kept: SketchBuffer
  readonly #registers: Uint8Array
  // the number of registers with each rank, so that counting does not scan the registers
  readonly #counts: Uint32Array

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. */
  constructor(options: HyperLogLogOptions = {}) {
    checkOptions('HyperLogLog', options, ['precision', 'seed'])
    this.precision = wholeOption('precision', options.precision ?? 14, LEAST, MOST)
    this.seed = seedOf(options)
    this.#kept = SketchBuffer.create('hyperLogLog', 2 ** this.precision, { seed: this.seed, shape: [this.precision] })
    this.#registers = registersOf(this.#kept)
    this.#counts = new Uint32Array(mostRank(this.precision) + 1)
    this.#recount()
  }

  /**
   * Reads the result of `toBytes`. Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` if it was counted with
   * another seed.
   */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): HyperLogLog {
    checkOptions('HyperLogLog.fromBytes', options, ['seed'])
    const seed = seedOf(options)
    const kept = SketchBuffer.read('hyperLogLog', bytes, keptBytes, seed)
    const registers = registersOf(kept)
    const most = mostRank(kept.shape(0))
    for (let at = 0; at < registers.length; at++) {
      if (registers[at] <= most) continue
      throw new SketchError('SLUICE_BAD_BYTES', `rank: expected at most ${most}, received ${registers[at]}`)
    }
    const read = new HyperLogLog({ precision: kept.shape(0), seed })
    read.#registers.set(registers)
    read.#recount()
    return read
  }

  /** Whether that is news: false for a key that was there before, and for most keys once there were many. */
  add(key: SketchKey): boolean {
    const { low, high } = this.seed.hashOf(key)
    const { precision } = this
    const at = low >>> (32 - precision)
    const rank = high === 0 ? Math.min(33 + clz32(low << precision), mostRank(precision)) : clz32(high) + 1
    const before = this.#registers[at]
    if (rank <= before) return false
    this.#registers[at] = rank
    this.#counts[before]--
    this.#counts[rank]++
    return true
  }

  /**
   * Returns the estimated number of different keys: an integer, 0 if there are none. `Infinity` if all registers are
   * full, which takes about 2^64 keys.
   */
  count(): number {
    return Math.round(ertlEstimate(this.#counts, this.#registers.length, mostRank(this.precision)))
  }

  /** Merges `other`, with the same result as if this sketch had also seen its keys. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: HyperLogLog): void {
    const { seed } = this
    const same = #kept in Object(other) ? other : foreignSketch(HyperLogLog, other, { seed })
    this.#kept.checkMatch(same.#kept)
    const mine = this.#registers
    const theirs = same.#registers
    for (let at = 0; at < mine.length; at++) {
      if (theirs[at] > mine[at]) mine[at] = theirs[at]
    }
    this.#recount()
  }

  clear(): void {
    this.#kept.clear()
    this.#recount()
  }

  toBytes(): Uint8Array {
    return this.#kept.toBytes()
  }

  #recount(): void {
    const counts = this.#counts
    const registers = this.#registers
    counts.fill(0)
    for (let at = 0; at < registers.length; at++) counts[registers[at]]++
  }
}

/** The rank if all other bits of a hash are 0. */
function mostRank(precision: number): number {
  return 64 - precision + 1
}

function keptBytes([precision, ...others]: readonly number[]): number | undefined {
  const known = precision >= LEAST && precision <= MOST && others.every((other) => other === 0)
  return known ? 2 ** precision : undefined
}

function registersOf(kept: SketchBuffer): Uint8Array {
  return new Uint8Array(kept.buffer, HEADER_BYTES)
}
