import type { KeyRows } from './key-rows.ts'
import type { SketchKey } from './sketch-seed.ts'

/** Largest count of a signed cell. A cell that has reached it stays there, because its count is no longer known. */
const MAX_COUNT = 2 ** 31 - 1
const MIN_COUNT = -(2 ** 31)
/** Cells of a row that are sampled for an estimate. */
const MAX_LOOKED = 8_192

/**
 * Signed 32-bit cells for the rows of a key, from which counts can be removed. At both limits they stop instead of
 * overflowing, which only makes a result too large: a full cell stays full whatever is removed, and a cell at -2³¹
 * falls no further and rises again.
 */
export class SignedRows {
  /** Aim it before each call that takes no key. */
  readonly keys: KeyRows
  readonly cells: Int32Array

  constructor(keys: KeyRows, cells: Int32Array = new Int32Array(keys.depth * keys.width)) {
    this.keys = keys
    this.cells = cells
  }

  /**
   * Adds `value`, 0 or more, to the cells of `key`, and returns the smallest of them. Unrolled code that reads all
   * cells before writing takes half the time of a loop.
   */
  addTo(key: SketchKey, value: number): number {
    const { keys, cells } = this
    const { low, high } = keys.seed.hashOf(key)
    if (!keys.quarters) {
      keys.aimAt(low, high)
      return this.add(value)
    }
    const { width } = keys
    const mask = width - 1
    const room = MAX_COUNT - value
    const i = low & mask
    const j = width + ((low >>> 16) & mask)
    const k = 2 * width + (high & mask)
    const l = 3 * width + ((high >>> 16) & mask)
    const a = raised(cells[i], value, room)
    const b = raised(cells[j], value, room)
    const c = raised(cells[k], value, room)
    const d = raised(cells[l], value, room)
    cells[i] = a
    cells[j] = b
    cells[k] = c
    cells[l] = d
    return Math.min(a, b, c, d)
  }

  /** Adds `value`, 0 or more, to the cells of the key, and returns the smallest of them. */
  add(value: number): number {
    const { cells } = this
    const { at, depth } = this.keys
    let least = MAX_COUNT
    for (let row = 0; row < depth; row++) {
      const cell = at[row]
      let count = cells[cell] + value
      if (count > MAX_COUNT) count = MAX_COUNT
      cells[cell] = count
      if (count < least) least = count
    }
    return least
  }

  /** Takes `value`, 0 or more, from the cells of the key. */
  take(value: number): void {
    const { cells } = this
    const { at, depth } = this.keys
    for (let row = 0; row < depth; row++) {
      const cell = at[row]
      let count = cells[cell]
      if (count === MAX_COUNT) continue
      count -= value
      if (count < MIN_COUNT) count = MIN_COUNT
      cells[cell] = count
    }
  }

  /** The least of the cells of the key. */
  least(): number {
    const { cells } = this
    const { at, depth } = this.keys
    let least = MAX_COUNT
    for (let row = 0; row < depth; row++) {
      const count = cells[at[row]]
      if (count < least) least = count
    }
    return least
  }

  /** Whether no cell of the key would be full after adding `value`. */
  fits(value: number): boolean {
    const { cells } = this
    const { at, depth } = this.keys
    for (let row = 0; row < depth; row++) if (cells[at[row]] + value >= MAX_COUNT) return false
    return true
  }

  /**
   * Returns the probability that a key which was never counted has `value` or more in all of its cells. Positions are
   * random, so the first cells of a row represent all of them.
   */
  chanceOf(value: number): number {
    const { cells } = this
    const { width, depth } = this.keys
    const looked = Math.min(width, MAX_LOOKED)
    let chance = 1
    for (let row = 0; row < depth; row++) {
      let full = 0
      for (let cell = row * width; cell < row * width + looked; cell++) if (cells[cell] >= value) full++
      chance *= full / looked
    }
    return chance
  }

  /** Adds the cells of another one of the same shape and seed. */
  merge(other: Int32Array): void {
    const { cells } = this
    for (let cell = 0; cell < cells.length; cell++) cells[cell] = merged(cells[cell], other[cell])
  }

  clear(): void {
    this.cells.fill(0)
  }
}

/** `room` is the largest value of a cell to which `value` can be added. */
function raised(seen: number, value: number, room: number): number {
  return seen < room ? seen + value : MAX_COUNT
}

function merged(one: number, other: number): number {
  if (one === MAX_COUNT || other === MAX_COUNT) return MAX_COUNT
  return Math.max(MIN_COUNT, Math.min(one + other, MAX_COUNT))
}
