import { cellsIn, FULL } from '../cells.ts'
import { foreignSketch } from '../foreign-sketch.ts'
import { KeyRows } from '../key-rows.ts'
import type { Sketch } from '../sketch.ts'
import { HEADER_BYTES, SketchBuffer } from '../sketch-buffer.ts'
import { described, SketchError, wholeAmount } from '../sketch-error.ts'
import { type SeedOption, seedOf } from '../sketch-seed.ts'
import { LinearCells } from './count-min-cells.ts'
import { heldTotal } from './count-min-shape.ts'
import {
  type CountRangeOptions,
  type CountRangeShape,
  exactCells,
  keptBytes,
  keptBytesOf,
  rangeShape,
} from './count-range-shape.ts'

const BITS = 32
/** The node of all keys: how much was counted at all. */
const ROOT = 1

/**
 * How often keys in a range of integers were counted (dyadic ranges of Cormode and Muthukrishnan 2005). Keys are the
 * leaves of a binary tree; a key is counted in each node above it, and a range consists of at most two nodes per
 * level.
 *
 * 1 all keys
 *     2 3 depth 1, exact
 *     4 5 6 7 ...
 *     8 9 10 11 12 13 14 15 depth `bits`: key 0 is node 2^bits
 *
 * Depths with no more nodes than a count-min sketch has cells are counted exactly; each of the L deeper ones by its
 * own count-min sketch. An answer is never too small, and too large by more than 2 L e / width of the total with
 * probability at most 2 L e^-depth.
 */
export class CountRange implements Sketch<CountRange> {
  readonly #shape: CountRangeShape
  readonly #buffer: SketchBuffer
  readonly #rows: KeyRows
  /** Indexed by node number. */
  readonly #exact: Float64Array
  /** The first is for the depth after the exact ones. */
  readonly #hashed: readonly LinearCells[]

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. `kept` is a buffer found by `fromBytes`. */
  constructor(options: CountRangeOptions, kept?: SketchBuffer) {
    const shape = rangeShape(options)
    const { bits, width, depth, exactDepth } = shape
    const seed = seedOf(options)
    this.#shape = shape
    this.#buffer = kept ?? SketchBuffer.create('countRange', keptBytesOf(shape), { seed, shape: [bits, width, depth] })
    this.#rows = new KeyRows(width, depth, seed)
    const exact = exactCells(exactDepth)
    const { buffer } = this.#buffer
    const from = HEADER_BYTES + 8 * exact
    this.#exact = new Float64Array(buffer, HEADER_BYTES, exact)
    this.#hashed = Array.from(
      { length: bits - exactDepth },
      (_, n) => new LinearCells(cellsIn(buffer, from + 4 * n * width * depth, width * depth, BITS)),
    )
  }

  /** Reads the result of `toBytes`. Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` for another seed. */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): CountRange {
    const seed = seedOf(options)
    const kept = SketchBuffer.read('countRange', bytes, keptBytes, seed)
    const read = new CountRange({ bits: kept.shape(0), width: kept.shape(1), depth: kept.shape(2), seed }, kept)
    const wrong = read.#exact.find((count) => !Number.isInteger(count) || count < 0)
    if (wrong !== undefined)
      throw new SketchError('SLUICE_BAD_BYTES', `counts: expected integers from 0, received ${wrong}`)
    return read
  }

  /** Keys are 0 to 2^bits - 1. */
  get bits(): number {
    return this.#shape.bits
  }

  /** All that was counted. */
  get total(): number {
    return this.#exact[ROOT]
  }

  /** Largest error of a range as a fraction of the total: 2 e / width for each depth that is not exact. */
  get epsilon(): number {
    return (2 * this.#hashed.length * Math.E) / this.#shape.width
  }

  /** Counts `key` `amount` times. Throws `SLUICE_BAD_AMOUNT`, also if `key` is not an integer from 0 to 2^bits - 1. */
  add(key: number, amount = 1): void {
    wholeAmount(amount)
    let node = this.#leaf(key)
    for (let n = this.#hashed.length - 1; n >= 0; n--) {
      this.#rows.aim(node)
      this.#hashed[n].add(this.#rows.at, amount)
      node = Math.floor(node / 2)
    }
    for (; node >= ROOT; node >>>= 1) this.#exact[node] += amount
  }

  /** At least how often keys from `low` to `high`, both included, were counted. Throws `SLUICE_BAD_AMOUNT`. */
  range(low: number, high: number): number {
    let from = this.#leaf(low)
    // the first node after the range
    let to = this.#leaf(high) + 1
    if (low > high)
      throw new SketchError('SLUICE_BAD_AMOUNT', `range: expected low at most high, received ${low} to ${high}`)
    let sum = 0
    for (let depth = this.#shape.bits; from < to; depth--) {
      if (from % 2 === 1) sum += this.#count(from++, depth)
      if (to % 2 === 1) sum += this.#count(--to, depth)
      from = Math.floor(from / 2)
      to = Math.floor(to / 2)
    }
    return Math.min(sum, this.total)
  }

  merge(other: CountRange): void {
    const { seed } = this.#rows
    const same = #buffer in Object(other) ? other : foreignSketch(CountRange, other, { seed })
    this.#buffer.checkMatch(same.#buffer)
    const exact = this.#exact
    for (let node = ROOT; node < exact.length; node++) exact[node] = heldTotal(exact[node] + same.#exact[node])
    for (const [n, cells] of this.#hashed.entries()) cells.merge(same.#hashed[n].cells, 1)
  }

  clear(): void {
    this.#buffer.clear()
  }

  toBytes(): Uint8Array {
    return this.#buffer.toBytes()
  }

  #leaf(key: number): number {
    const keys = 2 ** this.#shape.bits
    if (Number.isInteger(key) && key >= 0 && key < keys) return keys + key
    throw new SketchError(
      'SLUICE_BAD_AMOUNT',
      `key: expected an integer from 0 to ${keys - 1}, received ${described(key)}`,
    )
  }

  /** Returns the total for a full cell, whose count is no longer known. */
  #count(node: number, depth: number): number {
    if (depth <= this.#shape.exactDepth) return this.#exact[node]
    this.#rows.aim(node)
    const count = this.#hashed[depth - this.#shape.exactDepth - 1].estimate(this.#rows.at)
    return count === FULL[BITS] ? this.total : count
  }
}
