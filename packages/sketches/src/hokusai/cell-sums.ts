import { FULL } from '../cells.ts'

/** The largest count that a cell holds, where it stays. */
export const FULL_CELL: number = FULL[32]

/** Adds `size` cells of `other`, starting at `from`, to `cells`, starting at `to`. Both may be the same array. */
export function addCells(cells: Uint32Array, to: number, size: number, other: Uint32Array, from: number): void {
  for (let i = 0; i < size; i++) {
    let sum = cells[to + i] + other[from + i]
    if (sum > FULL_CELL) sum = FULL_CELL
    cells[to + i] = sum
  }
}

/** Copies the carry into block `open` and adds block `last` to it, which may be the one that it is copied into. */
export function carryCells(cells: Uint32Array, size: number, open: number, last: number): void {
  for (let i = 0; i < size; i++) {
    const carried = cells[i]
    let sum = carried + cells[last + i]
    cells[open + i] = carried
    if (sum > FULL_CELL) sum = FULL_CELL
    cells[i] = sum
  }
}

/** Rows of `width` cells, one behind the other, from cell `at` on. */
export interface Rows {
  readonly cells: Uint32Array
  readonly at: number
  readonly width: number
}

/**
 * Folds rows of a power of two of cells into narrower ones: cells whose columns agree in the low bits are added, and
 * every key finds its cell at `column & (width - 1)`. Folding twice equals folding once to the smaller width.
 */
export function foldRows(to: Rows, from: Rows, depth: number): void {
  const { cells, width } = to
  const read = from.cells
  for (let row = 0; row < depth; row++) {
    const first = from.at + row * from.width
    const write = to.at + row * width
    for (let i = 0; i < width; i++) cells[write + i] = read[first + i]
    for (let column = width; column < from.width; column += width) {
      addCells(cells, write, width, read, first + column)
    }
  }
}

/** Adds `amount`, whole, to the cells `at` of the sketch that begins at cell `from`. */
export function addAt(cells: Uint32Array, from: number, at: Int32Array, amount: number): void {
  for (let row = 0; row < at.length; row++) {
    let sum = cells[from + at[row]] + amount
    if (sum > FULL_CELL) sum = FULL_CELL
    cells[from + at[row]] = sum
  }
}

/** The smallest of the cells `at` of the sketch that begins at cell `from`. */
export function leastAt(cells: Uint32Array, from: number, at: Int32Array): number {
  let least = FULL_CELL
  for (let row = 0; row < at.length; row++) {
    const count = cells[from + at[row]]
    if (count < least) least = count
  }
  return least
}

/** The sum of two totals. It stays at 2^53 - 1, where doubles would begin to round. */
export function addTotals(total: number, other: number): number {
  return Math.min(total + other, Number.MAX_SAFE_INTEGER)
}
