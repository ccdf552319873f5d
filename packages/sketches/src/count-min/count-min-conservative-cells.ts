import type { Cells } from '../cells.ts'
import { SketchError } from '../sketch-error.ts'
import { type CountMinCells, fullOf, LinearCells, leastOf, raised, roomFor } from './count-min-cells.ts'

/**
 * Raises only the cells that are too small for the key, and only as far as necessary, which reduces the error of
 * other keys.
 */
export class ConservativeCells implements CountMinCells {
  readonly cells: Cells
  readonly #linear: LinearCells
  readonly #full: number

  constructor(cells: Cells) {
    this.cells = cells
    this.#linear = new LinearCells(cells)
    this.#full = fullOf(cells) | 0
  }

  add(at: Int32Array, amount: number): number {
    const { cells } = this
    const full = this.#full >>> 0
    const sum = raised(leastOf(cells, at, full), amount, roomFor(amount, full), full)
    for (let row = 0; row < at.length; row++) {
      if (cells[at[row]] < sum) cells[at[row]] = sum
    }
    return sum
  }

  /** `add` where `KeyRows` has four rows of a quarter of the hash each: a tenth faster, and a third with integers. */
  addQuarters(low: number, high: number, width: number, amount: number): number {
    const { cells } = this
    const full = this.#full >>> 0
    const mask = width - 1
    const i = low & mask
    const j = width + ((low >>> 16) & mask)
    const k = 2 * width + (high & mask)
    const l = 3 * width + ((high >>> 16) & mask)
    const least = Math.min(cells[i], cells[j], cells[k], cells[l])
    const sum = raised(least, amount, roomFor(amount, full), full)
    if (cells[i] < sum) cells[i] = sum
    if (cells[j] < sum) cells[j] = sum
    if (cells[k] < sum) cells[k] = sum
    if (cells[l] < sum) cells[l] = sum
    return sum
  }

  estimate(at: Int32Array): number {
    return leastOf(this.cells, at, this.#full >>> 0)
  }

  remove(): number {
    throw new SketchError(
      'SLUICE_SKETCH_UNSUPPORTED',
      'a conservative count-min cannot tell whose count it would take out',
    )
  }

  merge(others: Cells, weight: number): void {
    this.#linear.merge(others, weight)
  }
}
