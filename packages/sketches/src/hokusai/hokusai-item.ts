import { foreignSketch } from '../foreign-sketch.ts'
import { KeyRows } from '../key-rows.ts'
import type { Sketch } from '../sketch.ts'
import { HEADER_BYTES, SketchBuffer } from '../sketch-buffer.ts'
import { checkOptions, wholeAmount } from '../sketch-error.ts'
import { type SeedOption, type SketchKey, type SketchSeed, seedOf } from '../sketch-seed.ts'
import { addAt, addCells, addTotals, leastAt } from './cell-sums.ts'
import {
  allowedBytes,
  type HokusaiOptions,
  type HokusaiShape,
  optionsOf,
  shapeOfOptions,
  shapeOfWords,
  wordsOfShape,
} from './hokusai-shape.ts'
import { UnitClock } from './unit-clock.ts'
import { UnitSketches, unitBytes, unitsCulled } from './unit-sketches.ts'

/**
 * How often a key was seen in a given past unit: item aggregation of Hokusai (Matusevych, Smola and Ahmed, UAI 2012).
 * One count-min sketch per unit, folded to half its width each time its age doubles (`UnitSketches`): the past keeps
 * its time resolution and loses key resolution. R kept units take floor(log2 R) + 2 sketches.
 *
 * An estimate for a unit of age a is never too small, and too large by more than e · N · 2^floor(log2 a) / width with
 * probability at most e^-depth, where N is the total of that unit. Full cells (2³² - 1) count no further.
 *
 * The caller passes the time. A clock that steps back counts into the current unit.
 */
export class HokusaiItem implements Sketch<HokusaiItem> {
  readonly #shape: HokusaiShape
  readonly #seed: SketchSeed
  readonly #buffer: SketchBuffer
  readonly #rows: KeyRows
  readonly #clock: UnitClock
  readonly #units: UnitSketches
  /** Cells of the current unit. */
  readonly #cells: Uint32Array

  /**
   * `retainMs` is at most `width` units. Default: `width` or 4096 units, whichever is less. Throws
   * `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. `kept` is a buffer found by `fromBytes`.
   */
  constructor(options: HokusaiOptions, kept?: SketchBuffer) {
    const shape = itemShapeOf(options)
    const pastBytes = allowedBytes(unitBytes(shape))
    const seed = seedOf(options)
    this.#shape = shape
    this.#seed = seed
    this.#rows = new KeyRows(shape.width, shape.depth, seed)
    this.#buffer = kept ?? SketchBuffer.create('hokusaiItem', keptBytes(shape), { seed, shape: wordsOfShape(shape) })
    this.#clock = new UnitClock(this.#buffer, shape.unitMs)
    this.#units = new UnitSketches(shape, this.#buffer.buffer, HEADER_BYTES)
    this.#cells = new Uint32Array(this.#buffer.buffer, HEADER_BYTES + pastBytes, shape.width * shape.depth)
  }

  /** Returns the size in bytes for these options, which is also the size of `toBytes`. Throws `SLUICE_BAD_OPTION`. */
  static bytesFor(options: HokusaiOptions): number {
    return HEADER_BYTES + keptBytes(itemShapeOf(options))
  }

  /**
   * Reads the result of `toBytes` into new memory. Throws `SLUICE_BAD_BYTES`, and `SLUICE_SKETCH_MISMATCH` for
   * another seed.
   */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): HokusaiItem {
    const seed = seedOf(options)
    const kept = SketchBuffer.read('hokusaiItem', bytes, bytesOfWords, seed)
    const { blocksPerLevel: _, ...read } = optionsOf(kept)
    const sketch = new HokusaiItem({ ...read, seed }, kept)
    sketch.#units.check(sketch.#cells)
    return sketch
  }

  get unitMs(): number {
    return this.#shape.unitMs
  }

  /** Number of units before the current one that are kept. */
  get retainUnits(): number {
    return this.#shape.retainUnits
  }

  /** Number of the current unit: floor(ms / `unitMs`) of the latest time that was passed; 0 before. */
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
    addAt(this.#cells, 0, this.#rows.at, amount)
    this.#units.totals[0] = addTotals(this.#units.totals[0], amount)
  }

  /** Lets time go on. Throws `SLUICE_BAD_AMOUNT`. */
  advance(nowMs: number): void {
    const unit = this.#clock.unitAt(nowMs)
    if (unit !== this.#clock.running) this.#begin(unit)
  }

  /**
   * Returns how often the key was seen in unit number `unit`; undefined if the unit is no longer kept or has not
   * started.
   */
  unit(key: SketchKey, unit: number): number | undefined {
    const age = this.#clock.running - wholeAmount(unit)
    if (age < 0 || age > this.#shape.retainUnits) return undefined
    this.#rows.aim(key)
    const { at } = this.#rows
    return age === 0 ? leastAt(this.#cells, 0, at) : this.#units.count(unit, age, at)
  }

  /** Returns the total of a unit over all keys; undefined if the unit is not available. */
  unitTotal(unit: number): number | undefined {
    const age = this.#clock.running - wholeAmount(unit)
    if (age < 0 || age > this.#shape.retainUnits) return undefined
    return age === 0 ? this.#units.totals[0] : this.#units.total(unit, age)
  }

  /** Returns the cells per row of a unit at this age: 0 is the current unit; beyond `retainUnits` there are none. */
  widthAt(age: number): number {
    if (wholeAmount(age) === 0) return this.#shape.width
    return age > this.#shape.retainUnits ? 0 : this.#units.widthAt(age)
  }

  /** Advances to the later time of both, as if both had been one sketch. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: HokusaiItem): void {
    const theirs = #buffer in Object(other) ? other : foreignSketch(HokusaiItem, other, { seed: this.#seed })
    this.#buffer.checkMatch(theirs.#buffer)
    const { running } = this.#clock
    const late = theirs.#clock.running
    if (late > running) this.#begin(late)
    if (theirs.#clock.since < 0) return
    // `other` must not be changed, so an older one is advanced as a copy
    const same = late < running ? HokusaiItem.fromBytes(theirs.toBytes(), { seed: this.#seed }) : theirs
    if (late < running) same.#begin(running)
    this.#units.merge(same.#units)
    addCells(this.#cells, 0, this.#cells.length, same.#cells, 0)
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
    const { totals } = this.#units
    this.#units.move(this.#clock.running, unit, this.#cells, totals[0])
    if (totals[0] > 0) this.#cells.fill(0)
    totals[0] = 0
    this.#clock.begin(unit)
  }
}

function itemShapeOf(options: HokusaiOptions): HokusaiShape {
  checkOptions('HokusaiItem', options, ['width', 'depth', 'unitMs', 'retainMs', 'seed'])
  return shapeOfOptions(options, { folds: true })
}

function keptBytes(shape: HokusaiShape): number {
  return allowedBytes(unitBytes(shape)) + 4 * shape.width * shape.depth
}

function bytesOfWords(words: readonly number[]): number | undefined {
  const shape = shapeOfWords(words)
  const past = shape && shape.perLevel === 1 ? unitBytes(shape) : undefined
  return shape && past !== undefined ? past + 4 * shape.width * shape.depth : undefined
}
