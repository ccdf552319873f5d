import { type CellBits, type Cells, FULL } from './cells.ts'
import { SketchError } from './sketch-error.ts'

/** Cells in rows, `at` being the index of a key's cell in each row. A full cell stays full: nobody knows what it held. */
export interface CountMinCells {
  readonly cells: Cells
  /** Adds, and answers the smallest of the key's cells. */
  add(at: Int32Array, amount: number): number
  estimate(at: Int32Array): number
  /** Subtracts, and answers the smallest. No cell that is not full may have less than `amount`: ask `estimate`. */
  remove(at: Int32Array, amount: number): number
  /** Adds each cell of `others` times `weight`: ask `leavesNoDebt` where that is negative. */
  merge(others: Cells, weight: number): void
}

/** Each count goes to all rows, so that what was added can be taken out again. */
export class LinearCells implements CountMinCells {
  readonly cells: Cells
  /** As int32, so that it is no double. */
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

/** What a cell holds less than where `amount` fits. In whole numbers of 32 bits, which are faster than doubles. */
export function roomFor(amount: number, full: number): number {
  return amount < full ? (full - amount) >>> 0 : 0
}

/** What a cell that held `seen` holds with `amount` more; `room` is `roomFor` of it. */
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

/** Whether no cell would fall below 0 with `others` times `weight` added. Full ones stay full. */
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

/** What a full one of `cells` holds. */
export function fullOf(cells: Cells): number {
  return FULL[(8 * cells.BYTES_PER_ELEMENT) as CellBits]
}
