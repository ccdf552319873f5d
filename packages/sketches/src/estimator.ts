import { foreignSketch } from './foreign-sketch.ts'
import { KeyRows, MAX_COLUMNS, MAX_ROWS } from './key-rows.ts'
import { SignedRows } from './signed-rows.ts'
import type { Sketch } from './sketch.ts'
import { HEADER_BYTES, SketchBuffer } from './sketch-buffer.ts'
import { checkOptions, wholeAmount, wholeOption } from './sketch-error.ts'
import { type SeedOption, type SketchKey, type SketchSeed, seedOf } from './sketch-seed.ts'

export interface EstimatorOptions extends SeedOption {
  /** Each row makes a wrong answer rarer; default: 4, at most 32. */
  readonly rows?: number | undefined
  /** Cells of a row; default: 1,024, at most 2²⁴. 4 bytes each. */
  readonly slots?: number | undefined
}

const OPTIONS = ['rows', 'slots', 'seed'] as const
const ROWS = 4
const SLOTS = 1024

/**
 * Counts any number of keys in fixed memory: a count-min sketch whose counts can be removed. Its semantics and
 * numbers are those of the Estimator of pingora-limits (Cloudflare, 0.8).
 *
 * An estimate is the smallest of the key's cells, one per row. It is never too small, as long as no key is
 * decremented below zero. It is too large if other keys share all of its cells: with a total of N, by at most N /
 * slots on average, and by more than e · N / slots with probability at most e^-rows.
 *
 * Counts stop at ±2³¹ instead of overflowing: 2³¹ - 1 is final until `reset`, also for `decr`, and nothing is
 * decremented below -2³¹. What is lost there makes an estimate too large, never too small.
 */
export class Estimator implements Sketch<Estimator> {
  readonly rows: number
  readonly slots: number
  readonly #buffer: SketchBuffer
  readonly #counts: SignedRows

  /** Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_SEED`. */
  constructor(options: EstimatorOptions = {}) {
    checkOptions('Estimator', options, OPTIONS)
    this.rows = wholeOption('rows', options.rows ?? ROWS, 1, MAX_ROWS)
    this.slots = wholeOption('slots', options.slots ?? SLOTS, 1, MAX_COLUMNS)
    const seed = seedOf(options)
    const cells = this.rows * this.slots
    this.#buffer = SketchBuffer.create('estimator', 4 * cells, { seed, shape: [this.slots, this.rows, 0, 0] })
    this.#counts = new SignedRows(
      new KeyRows(this.slots, this.rows, seed),
      new Int32Array(this.#buffer.buffer, HEADER_BYTES, cells),
    )
  }

  /** Reads the result of `toBytes`, with the same seed. Throws `SLUICE_BAD_BYTES` and `SLUICE_SKETCH_MISMATCH`. */
  static fromBytes(bytes: Uint8Array, options: SeedOption = {}): Estimator {
    checkOptions('Estimator.fromBytes', options, ['seed'])
    const seed: SketchSeed = seedOf(options)
    const read = SketchBuffer.read('estimator', bytes, bytesOfCells, seed)
    const made = new Estimator({ slots: read.shape(0), rows: read.shape(1), seed })
    made.#counts.cells.set(new Int32Array(read.buffer, HEADER_BYTES))
    return made
  }

  /** Adds `value`, 0 or more, and returns the new estimate of `key`. Throws `SLUICE_BAD_AMOUNT`. */
  incr(key: SketchKey, value = 1): number {
    wholeAmount(value)
    return this.#counts.addTo(key, value)
  }

  /** Takes back `value`, 0 or more. Less than nothing may be left. Throws `SLUICE_BAD_AMOUNT`. */
  decr(key: SketchKey, value = 1): void {
    wholeAmount(value)
    this.#counts.keys.aim(key)
    this.#counts.take(value)
  }

  /** Returns how much was counted for `key`, or more. */
  get(key: SketchKey): number {
    this.#counts.keys.aim(key)
    return this.#counts.least()
  }

  /** Forgets everything: `clear` by the name that pingora-limits has for it. */
  reset(): void {
    this.clear()
  }

  /** Adds all counts of `other`, which has the same rows, slots and seed. Throws `SLUICE_SKETCH_MISMATCH`. */
  merge(other: Estimator): void {
    const { seed } = this.#counts.keys
    const same = #buffer in Object(other) ? other : foreignSketch(Estimator, other, { seed })
    this.#buffer.checkMatch(same.#buffer)
    this.#counts.merge(same.#counts.cells)
  }

  clear(): void {
    this.#buffer.clear()
  }

  toBytes(): Uint8Array {
    return this.#buffer.toBytes()
  }
}

function bytesOfCells([slots, rows, ...rest]: readonly number[]): number | undefined {
  const made = slots >= 1 && slots <= MAX_COLUMNS && rows >= 1 && rows <= MAX_ROWS && rest.every((n) => n === 0)
  return made ? 4 * slots * rows : undefined
}
