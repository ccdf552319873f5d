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
 * Ahmed, UAI 2012). One count-min sketch of linear 32-bit cells for the running unit, and one for each power of two of
 * units before it (`TimeBlocks`), so that bytes grow with the logarithm of the history, and never after construction.
 *
 * A stretch of time that is a union of blocks, or a difference of two, is answered as by one count-min of just these
 * events: never too small, and too large by more than e / width of what was counted in it with chance e^-depth at most.
 * Where a question cuts a stretch in two, `PartialBlock` says what becomes of it. Full cells (2³² - 1) count no more.
 *
 * Time is handed in, and goes on with `add` and `advance`; a silence of any length costs no more than a pass over the
 * blocks. A question changes nothing: one about a later time is answered as if that had come. A clock that steps back
 * counts into the running unit.
 */
export class HokusaiTime implements Sketch<HokusaiTime> {
  readonly #shape: HokusaiShape
  readonly #seed: SketchSeed
  readonly #buffer: SketchBuffer
  readonly #rows: KeyRows
  readonly #clock: UnitClock
  readonly #blocks: TimeBlocks
  readonly #answers: TimeAnswers

  /** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. `kept` is what `fromBytes` found. */
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

  /** Bytes that one of these options takes, and `toBytes` hands out. Throws `SLUICE_BAD_OPTION`. */
  static bytesFor(options: HokusaiTimeOptions): number {
    return HEADER_BYTES + allowedBytes(timeBytes(timeShapeOf(options)))
  }

  /** What `toBytes` made, in memory of its own. Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` under another seed. */
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

  /** Units before the running one that are kept. */
  get retainUnits(): number {
    return this.#shape.retainUnits
  }

  /** The unit that runs: floor(ms / `unitMs`) of the latest time of `add` and `advance`, 0 before. */
  get running(): number {
    return this.#clock.running
  }

  /** Longest blocks that held the first count or came after it, and are forgotten: all of their time is older than `retainMs`. */
  get culled(): number {
    return this.#blocks.culledSince(this.#clock.since, this.#clock.running)
  }

  /** Counts `amount`, whole and 0 or more. Throws `SLUICE_BAD_AMOUNT` for it, and for a time that is none. */
  add(key: SketchKey, amount: number, nowMs: number): void {
    this.#rows.aim(key)
    this.addAimed(amount, nowMs)
  }

  /** Lets time go on. Throws `SLUICE_BAD_AMOUNT`. */
  advance(nowMs: number): void {
    const unit = this.#clock.unitAt(nowMs)
    if (unit !== this.#clock.running) this.#begin(unit)
  }

  /** How often in the running unit and the `units` before it. Units that are no longer kept add nothing. */
  last(key: SketchKey, units: number, nowMs: number, partial: PartialBlock = 'whole'): number {
    this.#rows.aim(key)
    return this.#answers.last(units, partial, nowMs)
  }

  /**
   * How often in unit number `unit`, by the shortest stretch that holds it: `weighted` is its mean. Undefined where the
   * unit is no longer kept, or has not begun.
   */
  unit(key: SketchKey, unit: number, partial: PartialBlock = 'whole'): number | undefined {
    this.#rows.aim(key)
    return this.#answers.unit(unit, partial)
  }

  /** The key that the calls below are about, until a call that names another. They allocate nothing. */
  aim(key: SketchKey): void {
    this.#rows.aim(key)
  }

  /** `aim` for a key whose hash, of the same seed, is known. */
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

  /** How often in the last `windowMs`, a stretch that is partly in it whole: never too small. Throws `SLUICE_SKETCH_UNSUPPORTED` beyond `retainMs`. */
  aimedWindow(windowMs: number, nowMs: number): number {
    return this.#answers.window(windowMs, nowMs)
  }

  /**
   * Whole ms until `aimedWindow` is `most` or less, if nothing comes: 0 where it is, Infinity where `most` is negative.
   * Never too short; exact where no other key shares the cells of this one.
   */
  aimedWaitMs(most: number, windowMs: number, nowMs: number): number {
    return this.#answers.waitMs(most, windowMs, nowMs)
  }

  /** How many parts `aimedParts` writes at most, two numbers each. */
  get maxParts(): number {
    return this.#blocks.totals.length
  }

  /** Writes for each stretch of time, newest first, the ms at which it ends and the key's count in it; answers how many. */
  aimedParts(into: Float64Array, nowMs: number): number {
    return this.#answers.parts(into, nowMs)
  }

  /** The ms at which the oldest of these stretches begins, but not before the unit of the first count. */
  partsFromMs(nowMs: number): number {
    return this.#answers.oldest(nowMs) * this.#shape.unitMs
  }

  /** All blocks of the past that are kept, level by level, newest first. */
  blocks(): HokusaiBlock[] {
    return this.#blocks.described(this.#clock.running)
  }

  /** Time goes on to that of the later one, as if both had been one sketch. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: HokusaiTime): void {
    const theirs = #buffer in Object(other) ? other : foreignSketch(HokusaiTime, other, { seed: this.#seed })
    this.#buffer.checkMatch(theirs.#buffer)
    const { running } = this.#clock
    const late = theirs.#clock.running
    if (late > running) this.#begin(late)
    if (theirs.#clock.since < 0) return
    // another one is not changed, so that an older one goes on as a copy
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
