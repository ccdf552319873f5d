import { scatterBits } from '@sluice/limiter-core/keyed-hash'
import { type CellBits, type Cells, cellsIn, FULL } from '../cells.ts'
import type { SlotSecret } from './slot-secret.ts'
import { SATURATED } from './window-spans.ts'

export const ROWS = 4

// by its name: in a vm context, such as a jest test, each look-up of the global Math costs more than a hash
const { imul, min } = Math

/**
 * The counts of one slot: four rows of cells, with positions that are drawn for each slot. Positions are computed by
 * vector multiply-shift over the four halves of a key's 64-bit hash, as in `@sluice/limiter-core/keyed-hash`, so that two keys
 * collide in a given row with probability 1 / width, independent of earlier slots.
 */
export class SlotMatrix {
  /** Number of the slot. */
  number = 0
  /** Whether anything was counted. */
  fresh = true
  readonly #cells: Cells
  readonly #width: number
  readonly #full: number
  #words: Int32Array = new Int32Array(11)
  // the four cells of the last key that was aimed at
  readonly #at = new Int32Array(ROWS)

  constructor(buffer: ArrayBuffer, from: number, width: number, bits: CellBits) {
    this.#cells = cellsIn(buffer, from, ROWS * width, bits)
    this.#width = width
    this.#full = FULL[bits]
  }

  /** Clears the counts and starts slot `number`. */
  begin(number: number, secret: SlotSecret): void {
    if (!this.fresh) this.#cells.fill(0)
    this.number = number
    this.fresh = true
    this.#words = secret.wordsOf(number)
  }

  /** Finds the cells of a key. */
  aim(low: number, high: number): void {
    const w = this.#words
    const a = low & 0xffff
    const b = low >>> 16
    const c = high & 0xffff
    const d = high >>> 16
    const one = (w[0] + imul(a, w[4]) + imul(b, w[5]) + imul(c, w[6]) + imul(d, w[7])) | 0
    const two = (w[1] + imul(a, w[5]) + imul(b, w[6]) + imul(c, w[7]) + imul(d, w[8])) | 0
    const three = (w[2] + imul(a, w[6]) + imul(b, w[7]) + imul(c, w[8]) + imul(d, w[9])) | 0
    const four = (w[3] + imul(a, w[7]) + imul(b, w[8]) + imul(c, w[9]) + imul(d, w[10])) | 0
    this.#spread((one >>> 16) | (two & 0xffff0000), (three >>> 16) | (four & 0xffff0000) | 1)
  }

  /** Returns at least the count of the selected key. */
  units(): number {
    const cells = this.#cells
    const at = this.#at
    const least = min(min(cells[at[0]], cells[at[1]]), min(cells[at[2]], cells[at[3]]))
    return least < this.#full ? least : SATURATED
  }

  /** Adds to all four cells. A cell that is full stays so. */
  add(units: number): void {
    const cells = this.#cells
    const full = this.#full
    this.fresh = false
    for (let row = 0; row < ROWS; row++) {
      const at = this.#at[row]
      cells[at] = min(cells[at] + units, full)
    }
  }

  /** Adds only where the key would be counted too low without (Estan and Varghese 2002). */
  addConservatively(units: number): void {
    const cells = this.#cells
    const least = min(this.units() + units, this.#full)
    this.fresh = false
    for (let row = 0; row < ROWS; row++) {
      const at = this.#at[row]
      if (cells[at] < least) cells[at] = least
    }
  }

  /** Undoes `add`. A full cell stays full, because its count is no longer known. */
  subtract(units: number): void {
    const cells = this.#cells
    for (let row = 0; row < ROWS; row++) {
      const at = this.#at[row]
      const cell = cells[at]
      if (cell < this.#full) cells[at] = cell > units ? cell - units : 0
    }
  }

  // double hashing (Kirsch and Mitzenmacher 2006), with a finaliser: without one, two keys that meet in two rows meet in all
  #spread(first: number, step: number): void {
    const at = this.#at
    const width = this.#width
    const scale = width / 0x1_0000_0000
    at[0] = ((scatterBits(first) >>> 0) * scale) | 0
    at[1] = width + (((scatterBits((first + step) | 0) >>> 0) * scale) | 0)
    at[2] = 2 * width + (((scatterBits((first + 2 * step) | 0) >>> 0) * scale) | 0)
    at[3] = 3 * width + (((scatterBits((first + 3 * step) | 0) >>> 0) * scale) | 0)
  }
}
