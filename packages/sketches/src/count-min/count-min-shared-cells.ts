import type { Cells } from '../cells.ts'
import type { SketchBuffer } from '../sketch-buffer.ts'
import { type CountMinCells, fullOf, leastOf } from './count-min-cells.ts'

/** Offset in the header of a shared sketch for the part of the total that its first row does not contain. */
const BESIDE_AT = 48
/**
 * Upper bound for totals read from bytes, far above any real total, so that hostile bytes cause neither a
 * `RangeError` nor a negative number.
 */
const MAX_BESIDE = 2 ** 62
const MAX_HELD = BigInt(MAX_BESIDE)

/**
 * Linear cells that threads share without a lock. Each cell is updated by compare-and-exchange until no other thread
 * interferes, so that no count is lost and no cell overflows.
 *
 * There is no stored total, because a number that all threads write would be the slowest cell. The total is the sum
 * of the first row plus what full cells did not take, which is stored separately.
 */
export class SharedCells implements CountMinCells {
  readonly cells: Cells
  readonly #width: number
  readonly #full: number
  readonly #beside: BigInt64Array

  constructor(cells: Cells, width: number, { buffer }: SketchBuffer) {
    this.cells = cells
    this.#width = width
    this.#full = fullOf(cells)
    this.#beside = new BigInt64Array(buffer, BESIDE_AT, 1)
  }

  add(at: Int32Array, amount: number): number {
    let least = this.#full
    for (let row = 0; row < at.length; row++) {
      const sum = this.#exchange(at[row], amount)
      if (sum < least) least = sum
    }
    return least
  }

  /** Plain reads: a concurrent write counts as before or after. */
  estimate(at: Int32Array): number {
    return leastOf(this.cells, at, this.#full)
  }

  remove(at: Int32Array, amount: number): number {
    return this.add(at, -amount)
  }

  merge(others: Cells, weight: number): void {
    for (let i = 0; i < others.length; i++) {
      if (others[i] !== 0) this.#exchange(i, weight * others[i])
    }
  }

  /** All that was counted, while others may go on. */
  get total(): number {
    return this.#totalOf(this.cells)
  }

  snapshot(): { cells: Cells; total: number } {
    const cells = this.cells.slice()
    return { cells, total: this.#totalOf(cells) }
  }

  /** Takes over the part of the total that the cells of merged `others` did not contain. */
  mergeBeside(others: Cells, total: number, weight: number): void {
    this.#keepBeside(weight * (total - firstRow(others, this.#width)))
  }

  #totalOf(cells: Cells): number {
    return Math.max(0, firstRow(cells, this.#width) + Number(Atomics.load(this.#beside, 0)))
  }

  #exchange(i: number, amount: number): number {
    const { cells } = this
    const full = this.#full
    for (let seen = cells[i]; ; ) {
      const sum = exchanged(seen, amount, full)
      const before = Atomics.compareExchange(cells, i, seen, sum)
      if (before === seen) {
        if (sum - seen !== amount && i < this.#width) this.#keepBeside(amount - (sum - seen))
        return sum
      }
      seen = before
    }
  }

  #keepBeside(amount: number): void {
    const beside = this.#beside
    const added = BigInt(Math.max(-MAX_BESIDE, Math.min(MAX_BESIDE, amount)))
    if (added === 0n) return
    for (let seen = Atomics.load(beside, 0); ; ) {
      const before = Atomics.compareExchange(beside, 0, seen, heldBeside(seen + added))
      if (before === seen) return
      seen = before
    }
  }
}

/** Stops at 0 if two threads remove more than there was. */
function exchanged(seen: number, amount: number, full: number): number {
  if (seen === full) return full
  const sum = seen + amount
  if (sum < 0) return 0
  return Math.min(sum, full)
}

function heldBeside(sum: bigint): bigint {
  if (sum > MAX_HELD) return MAX_HELD
  return sum < -MAX_HELD ? -MAX_HELD : sum
}

function firstRow(cells: Cells, width: number): number {
  let sum = 0
  for (let i = 0; i < width; i++) sum += cells[i]
  return sum
}
