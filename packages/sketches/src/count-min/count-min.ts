import { type CellBits, cellsIn } from '../cells.ts'
import { foreignSketch } from '../foreign-sketch.ts'
import { KeyRows } from '../key-rows.ts'
import type { Sketch } from '../sketch.ts'
import { HEADER_BYTES, SketchBuffer } from '../sketch-buffer.ts'
import { SketchError, wholeAmount } from '../sketch-error.ts'
import { type SeedOption, type SketchKey, type SketchSeed, seedOf } from '../sketch-seed.ts'
import {
  type CountMinCells,
  fullOf,
  LinearCells,
  leastRowProduct,
  leavesNoDebt,
  notCounted,
} from './count-min-cells.ts'
import { ConservativeCells } from './count-min-conservative-cells.ts'
import {
  bufferOf,
  type CountMinCellOptions,
  type CountMinOptions,
  type CountMinShape,
  checkSame,
  checkTotal,
  checkWeight,
  heldTotal,
  keptBytes,
  optionsOfKept,
  refused,
  shapeOfOptions,
  sizeOfError,
  TOTAL,
} from './count-min-shape.ts'
import { SharedCells } from './count-min-shared-cells.ts'

/**
 * Count-min sketch: how often each key was counted, in `depth` rows of `width` cells (Cormode and Muthukrishnan
 * 2005). A key has one cell per row, and its estimate is the smallest of them: never too small, and too large by more
 * than e / width of the total with probability at most e^-depth. The probability is over the seed; with a known seed,
 * colliding keys can be forged. An estimate of a full cell (255, 65,535 or 2³² - 1) is a lower bound. Removing what
 * was never added reduces the counts of other keys.
 */
export class CountMin implements Sketch<CountMin> {
  readonly width: number
  readonly depth: number
  readonly cells: CellBits
  readonly conservative: boolean
  /** e / width: the part of the total by which an estimate may be too large. */
  readonly epsilon: number
  /** e^-depth: the chance that an estimate is too large by more. */
  readonly delta: number
  readonly #shape: CountMinShape
  readonly #buffer: SketchBuffer
  /** Floats of the header; `TOTAL` is the index of the total. */
  readonly #floats: Float64Array
  readonly #rows: KeyRows
  readonly #cells: CountMinCells
  /** The same cells, where threads share them. */
  readonly #shared: SharedCells | undefined
  /** The same cells, where they are a thread's own, in four rows that have a quarter of the hash each. */
  readonly #quarters: LinearCells | ConservativeCells | undefined

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. `kept` is a buffer found by `fromBytes` or `attach`. */
  constructor(options: CountMinOptions, kept?: SketchBuffer) {
    const shape = shapeOfOptions(options)
    const { width, depth, bits, shared } = shape
    const seed = seedOf(options)
    this.width = width
    this.depth = depth
    this.cells = bits
    this.conservative = shape.conservative
    this.epsilon = Math.E / width
    this.delta = Math.exp(-depth)
    this.#shape = shape
    this.#rows = new KeyRows(width, depth, seed)
    this.#buffer = kept ?? bufferOf(shape, seed)
    this.#floats = this.#buffer.floats()
    const cells = cellsIn(this.#buffer.buffer, HEADER_BYTES, width * depth, bits)
    this.#shared = shared ? new SharedCells(cells, width, this.#buffer) : undefined
    const own = shape.conservative ? new ConservativeCells(cells) : new LinearCells(cells)
    this.#cells = this.#shared ?? own
    this.#quarters = this.#rows.quarters && !shared ? own : undefined
  }

  /**
   * Creates a sketch whose estimates are too large by more than `epsilon` of the total with probability at most
   * `delta`: ⌈e / epsilon⌉ columns and ⌈ln 1/delta⌉ rows, 2719 x 5 for 0.001 and 0.01. Throws `SLUICE_BAD_OPTION`.
   */
  static fromError(epsilon: number, delta: number, options: CountMinCellOptions = {}): CountMin {
    return new CountMin({ ...options, ...sizeOfError(epsilon, delta) })
  }

  /**
   * Reads the result of `toBytes` into new memory. Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` for
   * another seed.
   */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): CountMin {
    const seed = seedOf(options)
    const kept = SketchBuffer.read('countMin', bytes, keptBytes(false), seed)
    checkTotal(kept)
    return new CountMin(optionsOfKept(kept, seed, false), kept)
  }

  /** Attaches to the `buffer` of another thread's sketch. Throws like `fromBytes`. */
  static attach(buffer: SharedArrayBuffer, options: { readonly seed: SketchSeed | Uint8Array | string }): CountMin {
    const seed = seedOf(options)
    const kept = SketchBuffer.attach('countMin', buffer, keptBytes(true), seed)
    return new CountMin(optionsOfKept(kept, seed, true), kept)
  }

  /** All that was added and not removed. Where threads share the sketch this reads a whole row. */
  get total(): number {
    return this.#shared?.total ?? this.#floats[TOTAL]
  }

  /**
   * The shared memory, to be passed to `attach` in another thread. Throws `SLUICE_SKETCH_UNSUPPORTED` if the sketch
   * is not shared.
   */
  get buffer(): SharedArrayBuffer {
    if (this.#shared !== undefined) return this.#buffer.buffer as SharedArrayBuffer
    throw new SketchError('SLUICE_SKETCH_UNSUPPORTED', 'this count-min is not in shared memory: say shared: true')
  }

  /** Counts `key` `amount` times, an integer of 0 or more, and returns its new estimate. Throws `SLUICE_BAD_AMOUNT`. */
  add(key: SketchKey, amount = 1): number {
    // without a call for 1, most callers can inline all of this
    if (amount !== 1) wholeAmount(amount)
    const rows = this.#rows
    const { low, high } = rows.seed.hashOf(key)
    if (this.#shared === undefined) this.#floats[TOTAL] += amount
    if (this.#quarters !== undefined) return this.#quarters.addQuarters(low, high, this.width, amount)
    rows.aimAt(low, high)
    return this.#cells.add(rows.at, amount)
  }

  /** Returns at least how often `key` was counted, minus what was removed; for a full cell, the value of the cell. */
  estimate(key: SketchKey): number {
    this.#rows.aim(key)
    return this.#cells.estimate(this.#rows.at)
  }

  /**
   * Removes what was added, and returns the new estimate. Throws `SLUICE_BAD_AMOUNT` if `key` cannot have been
   * counted so often, and `SLUICE_SKETCH_UNSUPPORTED` for a conservative sketch.
   */
  remove(key: SketchKey, amount = 1): number {
    if (this.conservative) throw refused('remove')
    wholeAmount(amount)
    const seen = this.estimate(key)
    const most = seen === fullOf(this.#cells.cells) ? this.total : seen
    if (amount > most)
      throw new SketchError('SLUICE_BAD_AMOUNT', `amount: expected at most ${most}, received ${amount}`)
    if (this.#shared === undefined) this.#floats[TOTAL] -= amount
    return this.#cells.remove(this.#rows.at, amount)
  }

  /**
   * Adds the counts of `other` times `weight`, an integer. Estimates of conservative sketches stay upper bounds, but
   * with the error of linear ones. A negative weight subtracts; for conservative sketches, or if a cell or the total
   * would fall below 0, it throws `SLUICE_SKETCH_UNSUPPORTED` and changes nothing.
   */
  merge(other: CountMin, weight = 1): void {
    const same = this.#same(other)
    const { cells, total } = same.#shared?.snapshot() ?? { cells: same.#cells.cells, total: same.total }
    checkWeight(weight)
    if (weight < 0 && this.conservative) throw refused('a negative weight')
    const sum = heldTotal(this.total + weight * total)
    if (sum < 0 || !leavesNoDebt(this.#cells.cells, cells, weight)) throw notCounted()
    this.#cells.merge(cells, weight)
    if (this.#shared === undefined) this.#floats[TOTAL] = sum
    else this.#shared.mergeBeside(cells, total, weight)
  }

  /**
   * Returns the sum over all keys of their counts here times their counts in `other`, such as the size of a join:
   * never too small and, except with probability e^-depth, too large by at most e / width of the product of the
   * totals. Infinity if every row has a full cell. Throws `SLUICE_SKETCH_UNSUPPORTED` for conservative sketches,
   * whose shared cells contain less than the sum of their keys.
   */
  innerProduct(other: CountMin): number {
    const same = this.#same(other)
    if (this.conservative) throw refused('innerProduct')
    return leastRowProduct(this.#cells.cells, same.#cells.cells, this.width)
  }

  /** Counts that other threads add meanwhile may or may not be cleared. */
  clear(): void {
    this.#buffer.clear()
  }

  /** A shared sketch and one that is not have the same bytes. */
  toBytes(): Uint8Array {
    if (this.#shared === undefined) return this.#buffer.toBytes()
    const { width, depth, cells } = this
    const own = new CountMin({ width, depth, cells, seed: this.#rows.seed })
    own.merge(this)
    return own.toBytes()
  }

  #same(other: CountMin): CountMin {
    const { seed } = this.#rows
    const same = #rows in Object(other) ? other : foreignSketch(CountMin, other, { seed })
    checkSame(this.#shape, same.#shape, seed.same(same.#rows.seed))
    return same
  }
}
