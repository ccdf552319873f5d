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
    let least = full
    for (let row = 0; row < at.length; row++) {
      const sum = raised(cells, at[row], amount, full)
      if (sum < least) least = sum
    }
    return least
  }

  /** `add` where `KeyRows` has four rows of a quarter of the hash each: straight code is faster by a tenth of the whole. */
  addQuarters(low: number, high: number, width: number, amount: number): number {
    const { cells } = this
    const full = this.#full >>> 0
    const mask = width - 1
    const a = raised(cells, low & mask, amount, full)
    const b = raised(cells, width + ((low >>> 16) & mask), amount, full)
    const c = raised(cells, 2 * width + (high & mask), amount, full)
    const d = raised(cells, 3 * width + ((high >>> 16) & mask), amount, full)
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

/** Only cells that are too small for the key are raised, as far as they are: other keys gain less from it. */
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
    const sum = sumUpTo(full, leastOf(cells, at, full), amount)
    for (let row = 0; row < at.length; row++) {
      if (cells[at[row]] < sum) cells[at[row]] = sum
    }
    return sum
  }

  estimate(at: Int32Array): number {
    return leastOf(this.cells, at, this.#full >>> 0)
  }

  remove(): number {
    throw new SketchError('SLUICE_SKETCH_REFUSES', 'a conservative count-min cannot tell whose count it would take out')
  }

  merge(others: Cells, weight: number): void {
    this.#linear.merge(others, weight)
  }
}

/** In whole numbers of 32 bits, which are faster than doubles: a sum that does not fit is smaller than what it began with. */
function sumUpTo(full: number, seen: number, amount: number): number {
  const sum = (seen + amount) >>> 0
  return amount >= full || sum > full || sum < seen ? full : sum
}

function raised(cells: Cells, i: number, amount: number, full: number): number {
  const sum = sumUpTo(full, cells[i], amount)
  cells[i] = sum
  return sum
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
  return new SketchError('SLUICE_SKETCH_REFUSES', 'this count-min has not counted what would be taken out')
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
