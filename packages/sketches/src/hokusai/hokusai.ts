import { foreignSketch } from '../foreign-sketch.ts'
import { KeyRows } from '../key-rows.ts'
import type { Sketch } from '../sketch.ts'
import { HEADER_BYTES, SketchBuffer } from '../sketch-buffer.ts'
import { wholeAmount } from '../sketch-error.ts'
import { type SeedOption, type SketchKey, type SketchSeed, seedOf } from '../sketch-seed.ts'
import { BlockFolds } from './block-folds.ts'
import { addAt, addTotals } from './cell-sums.ts'
import { allowedBytes, type HokusaiOptions, type HokusaiShape, optionsOf, wordsOfShape } from './hokusai-shape.ts'
import { jointBytes, jointBytesOfWords, jointShapeOf } from './joint-shape.ts'
import { type PartialBlock, TimeAnswers } from './time-answers.ts'
import { TimeBlocks } from './time-blocks.ts'
import { timeBytes } from './time-shape.ts'
import { UnitClock } from './unit-clock.ts'
import { UnitSketches, unitsCulled } from './unit-sketches.ts'

/**
 * Hokusai (Matusevych, Smola and Ahmed, UAI 2012): time aggregation (`HokusaiTime`), item aggregation (`HokusaiItem`)
 * and their combination over one stream. `interpolated` combines both: the count of a key in one past unit, more
 * accurate than either for rare keys.
 */
export class Hokusai implements Sketch<Hokusai> {
  readonly #shape: HokusaiShape
  readonly #seed: SketchSeed
  readonly #buffer: SketchBuffer
  readonly #rows: KeyRows
  readonly #clock: UnitClock
  readonly #blocks: TimeBlocks
  readonly #answers: TimeAnswers
  readonly #units: UnitSketches
  readonly #folds: BlockFolds

  /**
   * `retainMs` is at most `width` units. Default: `width` or 4096 units, whichever is less. Throws
   * `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. `kept` is a buffer found by `fromBytes`.
   */
  constructor(options: HokusaiOptions, kept?: SketchBuffer) {
    const shape = jointShapeOf(options)
    const bytes = allowedBytes(jointBytes(shape))
    const seed = seedOf(options)
    this.#shape = shape
    this.#seed = seed
    this.#rows = new KeyRows(shape.width, shape.depth, seed)
    this.#buffer = kept ?? SketchBuffer.create('hokusai', bytes, { seed, shape: wordsOfShape(shape) })
    const { buffer } = this.#buffer
    this.#clock = new UnitClock(this.#buffer, shape.unitMs)
    this.#blocks = new TimeBlocks(shape, buffer, HEADER_BYTES)
    this.#answers = new TimeAnswers(this.#rows, this.#blocks, this.#clock)
    this.#units = new UnitSketches(shape, buffer, HEADER_BYTES + allowedBytes(timeBytes(shape)))
    this.#folds = new BlockFolds(this.#blocks)
  }

  /**
   * Returns the size of `toBytes`. In memory there are additional folded blocks, together less than two sketches of
   * one unit.
   */
  static bytesFor(options: HokusaiOptions): number {
    return HEADER_BYTES + allowedBytes(jointBytes(jointShapeOf(options)))
  }

  /**
   * Reads the result of `toBytes` into new memory. Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` for
   * another seed.
   */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): Hokusai {
    const seed = seedOf(options)
    const kept = SketchBuffer.read('hokusai', bytes, jointBytesOfWords, seed)
    const { blocksPerLevel: _, ...read } = optionsOf(kept)
    const sketch = new Hokusai({ ...read, seed }, kept)
    sketch.#blocks.check()
    sketch.#units.check()
    return sketch
  }

  get unitMs(): number {
    return this.#shape.unitMs
  }

  /** Number of units before the current one that are kept. */
  get retainUnits(): number {
    return this.#shape.retainUnits
  }

  /** The unit that runs: floor(ms / `unitMs`) of the latest time of `add` and `advance`, 0 before. */
  get running(): number {
    return this.#clock.running
  }

  /** Units from the first count on that are forgotten. */
  get culled(): number {
    return unitsCulled(this.#shape, this.#clock.since, this.#clock.running)
  }

  /** Counts `amount`, an integer of 0 or more. Throws `SLUICE_BAD_AMOUNT` for an invalid amount or time. */
  add(key: SketchKey, amount: number, nowMs: number): void {
    wholeAmount(amount)
    this.advance(nowMs)
    if (this.#clock.since < 0) this.#clock.beginCounting(this.#clock.running)
    this.#rows.aim(key)
    const { cells, totals } = this.#blocks
    addAt(cells, 0, this.#rows.at, amount)
    totals[0] = addTotals(totals[0], amount)
  }

  /** Lets time go on. Throws `SLUICE_BAD_AMOUNT`. */
  advance(nowMs: number): void {
    const unit = this.#clock.unitAt(nowMs)
    if (unit !== this.#clock.running) this.#begin(unit)
  }

  /** Returns how often the key was seen in the current unit and the `units` before it, see `HokusaiTime.last`. */
  last(key: SketchKey, units: number, nowMs: number, partial: PartialBlock = 'whole'): number {
    this.#rows.aim(key)
    return this.#answers.last(units, partial, nowMs)
  }

  /**
   * Returns how often the key was seen in unit number `unit`, never too small; undefined if the unit is no longer
   * kept or has not started.
   */
  unit(key: SketchKey, unit: number): number | undefined {
    const age = this.#clock.running - wholeAmount(unit)
    if (age < 0 || age > this.#shape.retainUnits) return undefined
    this.#rows.aim(key)
    // neither is too small: one is coarse in keys, the other in time
    const inTime = this.#answers.unit(unit, 'whole') as number
    return age === 0 ? inTime : Math.min(inTime, this.#units.count(unit, age, this.#rows.at))
  }

  /**
   * Returns the most accurate estimate for unit number `unit`. If the unit's own estimate exceeds its error (e · N /
   * width for N counts), it is returned. Otherwise the key's share of the block around the unit is assumed for the
   * unit (`min M · A / B`, over rows), as if keys and time were independent. The result is a fraction, may be too
   * small (so no limit may rely on it), and never exceeds `unit`. Undefined like `unit`.
   */
  interpolated(key: SketchKey, unit: number): number | undefined {
    const most = this.unit(key, unit)
    const age = this.#clock.running - unit
    if (most === undefined || age === 0) return most
    const direct = this.#units.count(unit, age, this.#rows.at)
    const error = (Math.E * this.#units.total(unit, age)) / this.#units.widthAt(age)
    return direct > error ? most : Math.min(most, this.#share(unit, age))
  }

  #share(unit: number, age: number): number {
    const { at } = this.#rows
    const { cover } = this.#answers
    const { width } = this.#shape
    const level = cover.level[cover.partOf(unit)]
    const block = this.#blocks.sketchOf(level, 0) * this.#blocks.size
    let least = Number.POSITIVE_INFINITY
    for (let row = 0; row < at.length; row++) {
      const whole = this.#folds.rowCount(level, row, at[row])
      const cell = { row, at: at[row] & (width - 1), width: this.#folds.widthOf(level) }
      const inUnit = whole === 0 ? 0 : this.#units.rowCount(unit, age, cell) / whole
      least = Math.min(least, this.#blocks.cells[block + at[row]] * inUnit)
    }
    return least
  }

  /** Returns the total of a unit over all keys; undefined if the unit is not available. */
  unitTotal(unit: number): number | undefined {
    const age = this.#clock.running - wholeAmount(unit)
    if (age < 0 || age > this.#shape.retainUnits) return undefined
    return age === 0 ? this.#blocks.totals[0] : this.#units.total(unit, age)
  }

  /** Advances to the later time of both, as if both had been one sketch. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: Hokusai): void {
    const theirs = #buffer in Object(other) ? other : foreignSketch(Hokusai, other, { seed: this.#seed })
    this.#buffer.checkMatch(theirs.#buffer)
    const { running } = this.#clock
    const late = theirs.#clock.running
    if (late > running) this.#begin(late)
    if (theirs.#clock.since < 0) return
    // `other` must not be changed, so an older one is advanced as a copy
    const same = late < running ? Hokusai.fromBytes(theirs.toBytes(), { seed: this.#seed }) : theirs
    if (late < running) same.#begin(running)
    this.#blocks.merge(same.#blocks)
    this.#units.merge(same.#units)
    this.#folds.fold(this.#shape.levels)
    this.#clock.merge(same.#clock.since)
  }

  /** Forgets all counts, and the time too. */
  clear(): void {
    this.#buffer.clear()
    this.#clock.read()
  }

  toBytes(): Uint8Array {
    return this.#buffer.toBytes()
  }

  #begin(unit: number): void {
    const { running } = this.#clock
    this.#units.move(running, unit, this.#blocks.cells, this.#blocks.totals[0])
    this.#folds.fold(this.#blocks.move(running, unit))
    this.#clock.begin(unit)
  }
}
