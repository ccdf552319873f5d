import { FRACTION } from './page-layout.ts'

const ROWS = 4
const CELL_BYTES = 5
const MULTIPLIERS: readonly number[] = [0x1b873593, 0x52dce729 | 0, 0x38495ab5, 0x7b7d159d]

/** What the tail remembers of a key: used fraction in 255ths, tick after which it is as good as new. */
export interface Memory {
  fraction: number
  expiry: number
}

/**
 * What is left of evicted keys that had used half of their limit or more: four rows of cells, each the largest
 * fraction and expiry that met there, read as the smallest of the four. It never forgets too much and may remember
 * too much; a sum instead of the largest would feed on its own answers.
 */
export class Tail {
  readonly #bits: number
  readonly #fractions: Uint8Array
  readonly #expiries: Int32Array

  /** Uses at most `bytes`. */
  constructor(bytes: number) {
    this.#bits = Math.max(4, Math.floor(Math.log2(bytes / (ROWS * CELL_BYTES))))
    this.#fractions = new Uint8Array(ROWS << this.#bits)
    this.#expiries = new Int32Array(ROWS << this.#bits)
  }

  add(low: number, high: number, fraction: number, expiry: number, tick: number): void {
    for (let row = 0; row < ROWS; row++) {
      const cell = this.#cell(row, low, high)
      const live = this.#expiries[cell] >= tick
      this.#fractions[cell] = live ? Math.max(this.#fractions[cell], fraction) : fraction
      this.#expiries[cell] = live ? Math.max(this.#expiries[cell], expiry) : expiry
    }
  }

  /** Writes what is remembered into `memory`; false when nothing is. */
  recall(low: number, high: number, tick: number, memory: Memory): boolean {
    memory.fraction = FRACTION
    memory.expiry = 2 ** 31 - 1
    for (let row = 0; row < ROWS; row++) {
      const cell = this.#cell(row, low, high)
      if (this.#expiries[cell] < tick) return false
      memory.fraction = Math.min(memory.fraction, this.#fractions[cell])
      memory.expiry = Math.min(memory.expiry, this.#expiries[cell])
    }
    return true
  }

  #cell(row: number, low: number, high: number): number {
    const mixed = Math.imul(low ^ Math.imul(high & ~FRACTION, MULTIPLIERS[row]), 0x9e3779b1 | 0)
    return (row << this.#bits) + ((mixed ^ (mixed >>> 15)) >>> (32 - this.#bits))
  }
}
