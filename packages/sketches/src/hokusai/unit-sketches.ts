import { addCells, addTotals, FULL_CELL, foldRows } from './cell-sums.ts'
import { checkCounted, fits, type HokusaiShape, totalsBytes } from './hokusai-shape.ts'

const NO_CELLS = new Uint32Array(0)

/** Bytes that `UnitSketches` of this shape keep; undefined where they would be too many, or a unit too old for its width. */
export function unitBytes({ width, depth, retainUnits }: HokusaiShape): number | undefined {
  const levels = levelsOf(retainUnits)
  const cells = levels * width * depth
  return retainUnits <= width && fits(cells) ? totalsBytes(2 ** levels) + 4 * cells : undefined
}

/**
 * Item aggregation: one sketch per past unit, which halves its width each time its age doubles. A unit of age a (1 is
 * the last one that ended) has been folded floor(log2 a) times, so that the 2^k units of age 2^k to 2^(k+1) - 1,
 * level k, take as many cells as the youngest one alone.
 *
 * age 1 │ 2 3 │ 4 5 6 7 │ … each level: depth · width cells
 *     width w │ w/2 │ w/4 │ … unit u is at position u mod 2^k
 *
 * When a unit ends, one sketch of each level is folded into the next: two passes over a sketch in total.
 */
export class UnitSketches {
  readonly #shape: HokusaiShape
  readonly #size: number
  readonly #levels: number
  readonly cells: Uint32Array
  /** Totals of the units: position p of level k is at 2^k + p. Index 0 is reserved for the current unit. */
  readonly totals: Float64Array

  constructor(shape: HokusaiShape, buffer: ArrayBufferLike, from: number) {
    this.#shape = shape
    this.#size = shape.width * shape.depth
    this.#levels = levelsOf(shape.retainUnits)
    this.totals = new Float64Array(buffer, from, 2 ** this.#levels)
    this.cells = new Uint32Array(buffer, from + totalsBytes(this.totals.length), this.#levels * this.#size)
  }

  /** Throws `SLUICE_BAD_BYTES` where they were read from bytes that no sketch writes. `running`: cells of the running unit. */
  check(running?: Uint32Array): void {
    checkCounted(this.totals[0], running ?? NO_CELLS)
    for (let level = 0; level < this.#levels; level++) {
      for (let unit = 0; unit < 2 ** level; unit++) {
        const at = this.#firstCell(unit, level)
        checkCounted(this.totals[placeOf(unit, level)], this.cells.subarray(at, at + (this.#size >> level)))
      }
    }
  }

  /** Cells a row of a unit of this age, 1 or more. */
  widthAt(age: number): number {
    return this.#shape.width >> levelAt(age)
  }

  total(unit: number, age: number): number {
    return this.totals[placeOf(unit, levelAt(age))]
  }

  /** The cell of a row of a unit, of the key that has cell `at` in a sketch of full width. `width`: not above its own. */
  rowCount(unit: number, age: number, { row, at, width }: { row: number; at: number; width: number }): number {
    const level = levelAt(age)
    const own = this.#shape.width >> level
    const first = this.#firstCell(unit, level) + row * own
    let sum = 0
    for (let column = at & (width - 1); column < own; column += width) sum += this.cells[first + column]
    return Math.min(sum, FULL_CELL)
  }

  /** The estimate of a unit, of the key with the cells `at`: never too small. */
  count(unit: number, age: number, at: Int32Array): number {
    const level = levelAt(age)
    const width = this.#shape.width >> level
    let cell = this.#firstCell(unit, level)
    let least = FULL_CELL
    for (let row = 0; row < at.length; row++, cell += width) {
      const count = this.cells[cell + (at[row] & (width - 1))]
      if (count < least) least = count
    }
    return least
  }

  /**
   * Ends unit `from`, whose counts are the first cells of `running`, and all units before `to`, which are empty. The
   * result equals ending them one by one. `running` is not changed.
   */
  move(from: number, to: number, running: Uint32Array, total: number): void {
    const { retainUnits } = this.#shape
    const gap = to - from
    // oldest first: the place of a unit is that of one which has left
    for (let level = this.#levels - 1; level >= 0; level--) {
      const end = level === this.#levels - 1 ? retainUnits + 1 : 2 ** (level + 1)
      const youngest = Math.max(2 ** level, end - gap)
      for (let age = Math.min(end - 1, from); age >= youngest; age--) this.#age(from - age, age, age + gap)
    }
    if (total > 0 && gap <= retainUnits) this.#keep(from, gap, { cells: running, at: 0, level: -1, total })
  }

  #age(unit: number, age: number, older: number): void {
    const level = levelAt(age)
    const place = placeOf(unit, level)
    const total = this.totals[place]
    // a unit without a total has no counts
    if (total === 0) return
    const at = this.#firstCell(unit, level)
    if (older <= this.#shape.retainUnits) this.#keep(unit, older, { cells: this.cells, at, level, total })
    this.cells.fill(0, at, at + (this.#size >> level))
    this.totals[place] = 0
  }

  #keep(unit: number, age: number, from: { cells: Uint32Array; at: number; level: number; total: number }): void {
    const { width, depth } = this.#shape
    const level = levelAt(age)
    const to = { cells: this.cells, at: this.#firstCell(unit, level), width: width >> level }
    foldRows(to, { cells: from.cells, at: from.at, width: from.level < 0 ? width : width >> from.level }, depth)
    this.totals[placeOf(unit, level)] = from.total
  }

  #firstCell(unit: number, level: number): number {
    return level * this.#size + (unit % 2 ** level) * (this.#size >> level)
  }

  /** Adds the counts of another instance with the same shape at the same unit. */
  merge(other: UnitSketches): void {
    addCells(this.cells, 0, this.cells.length, other.cells, 0)
    for (let place = 0; place < this.totals.length; place++) {
      this.totals[place] = addTotals(this.totals[place], other.totals[place])
    }
  }
}

/** Returns how many units since `since` are no longer kept. */
export function unitsCulled({ retainUnits }: HokusaiShape, since: number, running: number): number {
  return since < 0 ? 0 : Math.max(0, running - retainUnits - since)
}

// ages are at most 2^24, the widest row
function levelAt(age: number): number {
  return 31 - Math.clz32(age)
}

function levelsOf(retainUnits: number): number {
  return levelAt(retainUnits) + 1
}

function placeOf(unit: number, level: number): number {
  return 2 ** level + (unit % 2 ** level)
}
