import { FRACTION } from './page-layout.ts'

const ROWS = 4
const CELL_BYTES = 5
const MULTIPLIERS: readonly number[] = [0x1b873593, 0x52dce729 | 0, 0x38495ab5, 0x7b7d159d]

/** What the tail remembers of a key: used fraction in 255ths, expiry. */
export interface Memory {
  fraction: number
  expiry: number
}

/**
 * What is left of evicted keys that had used half of their limit or more: four rows of cells, each the largest
 * fraction and expiry that met there, read as the smallest of the four. It never forgets too much and may remember
 * too much; a sum instead of the largest would feed on its own answers. With n keys over m cells a row it takes
 * (1 - e^(-n/m))^4 of all newcomers for one of them.
 */
export class Tail {
  /** Cells of a row. */
  readonly #width: number
  readonly #fractions: Uint8Array
  readonly #expiries: Int32Array

  /** Uses at most `bytes`. */
  constructor(bytes: number) {
    this.#width = Math.max(1, Math.floor(bytes / (ROWS * CELL_BYTES)))
    this.#fractions = new Uint8Array(ROWS * this.#width)
    this.#expiries = new Int32Array(ROWS * this.#width)
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

  /**
   * Forgets a key, and with it those others, about 2 n/m of one, that share the two cells that are cleared: one alone
   * would soon be filled again by chance.
   */
  forget(low: number, high: number): void {
    for (let row = 0; row < ROWS / 2; row++) this.#expiries[this.#cell(row, low, high)] = 0
  }

  #cell(row: number, low: number, high: number): number {
    const mixed = Math.imul(low ^ Math.imul(high & ~FRACTION, MULTIPLIERS[row]), 0x9e3779b1 | 0)
    return row * this.#width + Math.floor(((mixed ^ (mixed >>> 15)) >>> 0) * (this.#width / 2 ** 32))
  }
}
