import { FRACTION } from './page-layout.ts'

const ROWS = 4
/** Bytes of a cell: two entries of five bytes each. */
const CELL_BYTES = 10
const MULTIPLIERS: readonly number[] = [0x1b873593, 0x52dce729 | 0, 0x38495ab5, 0x7b7d159d]

/** Remembered usage of a key: used fraction in 255ths, and expiry. */
export interface Memory {
  fraction: number
  expiry: number
}

/**
 * A sketch that remembers evicted keys which had used at least half of their limit. A key has one cell in each of four
 * rows, and its value is the smallest of the four. A cell stores the largest fraction of its keys and, in a second
 * entry, a smaller fraction that lasts longer; with one entry, each lighter key would extend the time of a heavier one.
 * A remembered value may be too large and is never too small. Cells keep a maximum and not a sum, because recalled
 * values that are added again would grow. With n keys and m cells per row, (1 - e^(-n/m))^4 of all new keys are
 * mistaken for a remembered one.
 */
export class Tail {
  /** Cells of a row. */
  readonly #width: number
  readonly #fractions: Uint8Array
  readonly #expiries: Int32Array

  /** Uses at most `bytes`. */
  constructor(bytes: number) {
    this.#width = Math.max(1, Math.floor(bytes / (ROWS * CELL_BYTES)))
    this.#fractions = new Uint8Array(2 * ROWS * this.#width)
    this.#expiries = new Int32Array(2 * ROWS * this.#width)
  }

  add(low: number, high: number, fraction: number, expiry: number, tick: number): void {
    for (let row = 0; row < ROWS; row++) {
      const heavy = this.#cell(row, low, high)
      this.#removeExpired(heavy, tick)
      if (fraction >= this.#fractions[heavy] && expiry >= this.#expiries[heavy]) {
        this.#set(heavy, fraction, expiry)
        if (this.#expiries[heavy + 1] <= expiry) this.#set(heavy + 1, 0, 0)
      } else if (fraction > this.#fractions[heavy]) {
        this.#raise(heavy + 1, this.#fractions[heavy], this.#expiries[heavy])
        this.#set(heavy, fraction, expiry)
      } else if (expiry > this.#expiries[heavy]) {
        this.#raise(heavy + 1, fraction, expiry)
      }
    }
  }

  /** Writes what is remembered of a key into `memory`. Returns false if the key is not remembered. */
  recall(low: number, high: number, tick: number, memory: Memory): boolean {
    memory.fraction = FRACTION
    memory.expiry = 2 ** 31 - 1
    for (let row = 0; row < ROWS; row++) {
      const heavy = this.#cell(row, low, high)
      const expiry = Math.max(this.#expiries[heavy], this.#expiries[heavy + 1])
      if (expiry < tick) return false
      const fraction = this.#fractions[this.#expiries[heavy] < tick ? heavy + 1 : heavy]
      memory.fraction = Math.min(memory.fraction, fraction)
      memory.expiry = Math.min(memory.expiry, expiry)
    }
    return true
  }

  /**
   * Forgets a key by clearing its cells in two rows, which also forgets 2 n/m other keys on average. A single cleared
   * cell would soon be filled again by another key.
   */
  forget(low: number, high: number): void {
    for (let row = 0; row < ROWS / 2; row++) {
      const heavy = this.#cell(row, low, high)
      this.#set(heavy, 0, 0)
      this.#set(heavy + 1, 0, 0)
    }
  }

  #removeExpired(heavy: number, tick: number): void {
    const light = heavy + 1
    if (this.#expiries[light] < tick) this.#set(light, 0, 0)
    if (this.#expiries[heavy] >= tick) return
    this.#set(heavy, this.#fractions[light], this.#expiries[light])
    this.#set(light, 0, 0)
  }

  #raise(entry: number, fraction: number, expiry: number): void {
    this.#set(entry, Math.max(this.#fractions[entry], fraction), Math.max(this.#expiries[entry], expiry))
  }

  #set(entry: number, fraction: number, expiry: number): void {
    this.#fractions[entry] = fraction
    this.#expiries[entry] = expiry
  }

  /** Returns the index of the heavier entry of a cell. The other entry follows it. */
  #cell(row: number, low: number, high: number): number {
    const mixed = Math.imul(low ^ Math.imul(high & ~FRACTION, MULTIPLIERS[row]), 0x9e3779b1 | 0)
    const column = Math.floor(((mixed ^ (mixed >>> 15)) >>> 0) * (this.#width / 2 ** 32))
    return 2 * (row * this.#width + column)
  }
}
