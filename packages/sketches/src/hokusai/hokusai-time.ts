import { foreignSketch } from '../foreign-sketch.ts'
import { KeyRows } from '../key-rows.ts'
import type { Sketch } from '../sketch.ts'
import { HEADER_BYTES, SketchBuffer } from '../sketch-buffer.ts'
import { wholeAmount } from '../sketch-error.ts'
import { type SeedOption, type SketchKey, type SketchSeed, seedOf } from '../sketch-seed.ts'
import { addAt, addTotals } from './cell-sums.ts'
import { allowedBytes, type HokusaiShape, optionsOf, wordsOfShape } from './hokusai-shape.ts'
import { type PartialBlock, TimeAnswers } from './time-answers.ts'
import { type HokusaiBlock, TimeBlocks } from './time-blocks.ts'
import { type HokusaiTimeOptions, timeBytes, timeBytesOfWords, timeShapeOf } from './time-shape.ts'
import { UnitClock } from './unit-clock.ts'

/**
 * How often a key was seen in the last n units of time, for any n: time aggregation of Hokusai (Matusevych, Smola and
 * Ahmed, UAI 2012). One count-min sketch of linear 32-bit cells for the current unit, and one for each power of two
 * of units before it (`TimeBlocks`), so that memory grows with the logarithm of the history and never after
 * construction.
 *
 * A period that is a union of blocks, or a difference of two, is answered like one count-min sketch of exactly these
 * events: never too small, and too large by more than e / width of the period's total with probability at most
 * e^-depth. `PartialBlock` defines what happens if a query divides a block. Full cells (2³² - 1) count no further.
 *
 * The caller passes the time, which advances with `add` and `advance`; a pause of any length costs at most one pass
 * over the blocks. Queries change nothing: a query for a later time is answered as if that time had come. A clock
 * that steps back counts into the current unit.
 */
export class HokusaiTime implements Sketch<HokusaiTime> {
  readonly #shape: HokusaiShape
  readonly #seed: SketchSeed
  readonly #buffer: SketchBuffer
  readonly #rows: KeyRows
  readonly #clock: UnitClock
  readonly #blocks: TimeBlocks
  readonly #answers: TimeAnswers

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. `kept` is a buffer found by `fromBytes`. */
  constructor(options: HokusaiTimeOptions, kept?: SketchBuffer) {
    const shape = timeShapeOf(options)
    const seed = seedOf(options)
    this.#shape = shape
    this.#seed = seed
    this.#rows = new KeyRows(shape.width, shape.depth, seed)
    this.#buffer =
      kept ?? SketchBuffer.create('hokusaiTime', allowedBytes(timeBytes(shape)), { seed, shape: wordsOfShape(shape) })
    this.#clock = new UnitClock(this.#buffer, shape.unitMs)
    this.#blocks = new TimeBlocks(shape, this.#buffer.buffer, HEADER_BYTES)
    this.#answers = new TimeAnswers(this.#rows, this.#blocks, this.#clock)
  }

  /** Returns the size in bytes for these options, which is also the size of `toBytes`. Throws `SLUICE_BAD_OPTION`. */
  static bytesFor(options: HokusaiTimeOptions): number {
    return HEADER_BYTES + allowedBytes(timeBytes(timeShapeOf(options)))
  }

  /**
   * Reads the result of `toBytes` into new memory. Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` for
   * another seed.
   */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): HokusaiTime {
    const seed = seedOf(options)
    const kept = SketchBuffer.read('hokusaiTime', bytes, timeBytesOfWords, seed)
    const read = new HokusaiTime({ ...optionsOf(kept), seed }, kept)
    read.#blocks.check()
    return read
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

  /**
   * Number of longest blocks since the first count that were dropped because all of their time is older than
   * `retainMs`.
   */
  get culled(): number {
    return this.#blocks.culledSince(this.#clock.since, this.#clock.running)
  }

  /** Counts `amount`, an integer of 0 or more. Throws `SLUICE_BAD_AMOUNT` for an invalid amount or time. */
  add(key: SketchKey, amount: number, nowMs: number): void {
    this.#rows.aim(key)
    this.addAimed(amount, nowMs)
  }

  /** Lets time go on. Throws `SLUICE_BAD_AMOUNT`. */
  advance(nowMs: number): void {
    const unit = this.#clock.unitAt(nowMs)
    if (unit !== this.#clock.running) this.#begin(unit)
  }

  /**
   * Returns how often the key was seen in the current unit and the `units` before it. Units that are no longer kept
   * add nothing.
   */
  last(key: SketchKey, units: number, nowMs: number, partial: PartialBlock = 'whole'): number {
    this.#rows.aim(key)
    return this.#answers.last(units, partial, nowMs)
  }

  /**
   * Returns how often the key was seen in unit number `unit`, from the shortest part that contains it; `weighted`
   * returns the mean. Undefined if the unit is no longer kept or has not started.
   */
  unit(key: SketchKey, unit: number, partial: PartialBlock = 'whole'): number | undefined {
    this.#rows.aim(key)
    return this.#answers.unit(unit, partial)
  }

  /** The key that the calls below are about, until a call that names another. They allocate nothing. */
  aim(key: SketchKey): void {
    this.#rows.aim(key)
  }

  /** Like `aim`, for a key whose hash with the same seed is known. */
  aimAt(low: number, high: number): void {
    this.#rows.aimAt(low, high)
  }

  /** `add` for the key aimed at. */
  addAimed(amount: number, nowMs: number): void {
    wholeAmount(amount)
    const unit = this.#clock.unitAt(nowMs)
    if (unit !== this.#clock.running) this.#begin(unit)
    if (this.#clock.since < 0) this.#clock.beginCounting(unit)
    const { cells, totals } = this.#blocks
    addAt(cells, 0, this.#rows.at, amount)
    totals[0] = addTotals(totals[0], amount)
  }

  /**
   * Returns how often the key was seen in the last `windowMs`, counting partly covered blocks completely: never too
   * small. Throws `SLUICE_SKETCH_UNSUPPORTED` beyond `retainMs`.
   */
  aimedWindow(windowMs: number, nowMs: number): number {
    return this.#answers.window(windowMs, nowMs)
  }

  /**
   * Returns the milliseconds, an integer, until `aimedWindow` is at most `most` if nothing else is counted: 0 if it
   * is now, Infinity if `most` is negative. Never too short; exact if no other key shares all cells.
   */
  aimedWaitMs(most: number, windowMs: number, nowMs: number): number {
    return this.#answers.waitMs(most, windowMs, nowMs)
  }

  /** Largest number of parts that `aimedParts` writes, two numbers each. */
  get maxParts(): number {
    return this.#blocks.totals.length
  }

  /** Writes the end in ms and the count of the key for each part, the newest first; returns the number of parts. */
  aimedParts(into: Float64Array, nowMs: number): number {
    return this.#answers.parts(into, nowMs)
  }

  /** The ms at which the oldest of these stretches begins, but not before the unit of the first count. */
  partsFromMs(nowMs: number): number {
    return this.#answers.oldest(nowMs) * this.#shape.unitMs
  }

  /** Returns all past blocks that are kept, level by level, the newest first. */
  blocks(): HokusaiBlock[] {
    return this.#blocks.described(this.#clock.running)
  }

  /** Advances to the later time of both, as if both had been one sketch. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: HokusaiTime): void {
    const theirs = #buffer in Object(other) ? other : foreignSketch(HokusaiTime, other, { seed: this.#seed })
    this.#buffer.checkMatch(theirs.#buffer)
    const { running } = this.#clock
    const late = theirs.#clock.running
    if (late > running) this.#begin(late)
    if (theirs.#clock.since < 0) return
    // `other` must not be changed, so an older one is advanced as a copy
    const same = late < running ? HokusaiTime.fromBytes(theirs.toBytes(), { seed: this.#seed }) : theirs
    if (late < running) same.#begin(running)
    this.#blocks.merge(same.#blocks)
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
    this.#blocks.move(this.#clock.running, unit)
    this.#clock.begin(unit)
  }
}
