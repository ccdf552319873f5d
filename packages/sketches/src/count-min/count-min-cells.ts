import { type CellBits, type Cells, FULL } from '../cells.ts'
import { SketchError } from '../sketch-error.ts'

/**
 * Cells in rows; `at` contains the index of a key's cell in each row. A full cell stays full, because its count is no
 * longer known.
 */
export interface CountMinCells {
  readonly cells: Cells
  /** Adds `amount`, and returns the smallest cell of the key. */
  add(at: Int32Array, amount: number): number
  estimate(at: Int32Array): number
  /**
   * Subtracts `amount`, and returns the smallest cell. Every cell that is not full must contain at least `amount`;
   * check `estimate` first.
   */
  remove(at: Int32Array, amount: number): number
  /** Adds each cell of `others` times `weight`. For a negative weight, check `leavesNoDebt` first. */
  merge(others: Cells, weight: number): void
}

/** Adds each count to all rows, so that it can be removed again. */
export class LinearCells implements CountMinCells {
  readonly cells: Cells
  /** An int32, to avoid a double. */
  readonly #full: number

  constructor(cells: Cells) {
    this.cells = cells
    this.#full = fullOf(cells) | 0
  }

  add(at: Int32Array, amount: number): number {
    const { cells } = this
    const full = this.#full >>> 0
    const room = roomFor(amount, full)
    let least = full
    for (let row = 0; row < at.length; row++) {
      const sum = raised(cells[at[row]], amount, room, full)
      cells[at[row]] = sum
      if (sum < least) least = sum
    }
    return least
  }

  /**
   * `add` where `KeyRows` has four rows of a quarter of the hash each. Straight code, which reads all cells before it
   * writes one, takes half of the time of the loop.
   */
  addQuarters(low: number, high: number, width: number, amount: number): number {
    const { cells } = this
    const full = this.#full >>> 0
    const room = roomFor(amount, full)
    const mask = width - 1
    const i = low & mask
    const j = width + ((low >>> 16) & mask)
    const k = 2 * width + (high & mask)
    const l = 3 * width + ((high >>> 16) & mask)
    const a = raised(cells[i], amount, room, full)
    const b = raised(cells[j], amount, room, full)
    const c = raised(cells[k], amount, room, full)
    const d = raised(cells[l], amount, room, full)
    cells[i] = a
    cells[j] = b
    cells[k] = c
    cells[l] = d
    return Math.min(a, b, c, d)
  }

  estimate(at: Int32Array): number {
    return leastOf(this.cells, at, this.#full >>> 0)
  }

  remove(at: Int32Array, amount: number): number {
    const { cells } = this
    const full = this.#full >>> 0
    let least = full
    for (let row = 0; row < at.length; row++) {
      const seen = cells[at[row]]
      if (seen === full) continue
      cells[at[row]] = seen - amount
      if (seen - amount < least) least = seen - amount
    }
    return least
  }

  merge(others: Cells, weight: number): void {
    const { cells } = this
    const full = this.#full >>> 0
    for (let i = 0; i < cells.length; i++) {
      if (cells[i] !== full) cells[i] = Math.min(full, cells[i] + weight * others[i])
    }
  }
}

/**
 * Returns the largest value of a cell to which `amount` can be added. Uses 32-bit integers, which are faster than
 * doubles.
 */
export function roomFor(amount: number, full: number): number {
  return amount < full ? (full - amount) >>> 0 : 0
}

/** Returns the new value of a cell that contained `seen`; `room` is the result of `roomFor`. */
export function raised(seen: number, amount: number, room: number, full: number): number {
  return seen < room ? (seen + amount) >>> 0 : full
}

/** The smallest of a key's cells. */
export function leastOf(cells: Cells, at: Int32Array, full: number): number {
  let least = full
  for (let row = 0; row < at.length; row++) {
    const seen = cells[at[row]]
    if (seen < least) least = seen
  }
  return least
}

/** Whether no cell would fall below 0 after adding `others` times `weight`. Full cells stay full. */
export function leavesNoDebt(cells: Cells, others: Cells, weight: number): boolean {
  if (weight >= 0) return true
  const full = fullOf(cells)
  for (let i = 0; i < cells.length; i++) {
    if (cells[i] !== full && cells[i] + weight * others[i] < 0) return false
  }
  return true
}

export function notCounted(): SketchError {
  return new SketchError('SLUICE_SKETCH_UNSUPPORTED', 'this count-min has not counted what would be taken out')
}

/**
 * The smallest, over the rows, of the sums of products of their cells. A row where a full cell meets one that is not
 * empty is left out, since its sum may be too small; Infinity where that is so in all of them.
 */
export function leastRowProduct(mine: Cells, others: Cells, width: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let from = 0; from < mine.length; from += width) {
    least = Math.min(least, rowProduct(mine, others, from, from + width))
  }
  return least
}

function rowProduct(mine: Cells, others: Cells, from: number, to: number): number {
  const full = fullOf(mine)
  let sum = 0
  for (let i = from; i < to; i++) {
    const product = mine[i] * others[i]
    if (product > 0 && (mine[i] === full || others[i] === full)) return Number.POSITIVE_INFINITY
    sum += product
  }
  return sum
}

/** Returns the value of a full cell. */
export function fullOf(cells: Cells): number {
  return FULL[(8 * cells.BYTES_PER_ELEMENT) as CellBits]
}
