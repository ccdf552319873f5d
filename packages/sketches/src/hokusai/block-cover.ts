import { FULL_CELL } from './cell-sums.ts'
import type { TimeBlocks } from './time-blocks.ts'

/**
 * The past divided into parts, the newest first; part 0 is the current unit. Returns what each part contains of a
 * key.
 */
export interface PastParts {
  /** Number of parts. */
  readonly parts: number
  /** First unit of each part. */
  readonly from: Float64Array
  /** First unit behind each part. */
  readonly to: Float64Array
  /** Count of one cell of a part. The count of a full cell is not known in its parts, which stay full. */
  rowCount(part: number, cell: number): number
  /** Estimate of the key with cells `at` in a part: never too small. */
  count(part: number, at: Int32Array): number
}

/**
 * The past divided into the shortest disjoint parts that the blocks distinguish, the newest first. Part 0 is the
 * current unit. If a block starts before the level below but ends within it, the part is their difference: both are
 * sums of the same cells, so the difference of a cell is what a sketch of these units would contain, and the smallest
 * difference of a key is a count-min estimate.
 *
 * T = 8 level 0 ▪ part 1: [7, 8)
 *              level 1 ▪▪▪▪ part 2: [6, 7), level 1 without level 0
 *              level 2 ▪▪▪▪▪▪▪▪▪▪ part 3: [4, 6)
 *
 * A sum of minima is at most the minimum of the sums, so no other division by the same blocks is more accurate.
 */
export class BlockCover implements PastParts {
  parts = 0
  readonly from: Float64Array
  readonly to: Float64Array
  readonly level: Uint8Array
  readonly #blocks: TimeBlocks
  /** First cell of the sketch of each part, and of the one to take from it, or -1. */
  readonly #cells: Int32Array
  readonly #less: Int32Array
  #running = -1

  constructor(blocks: TimeBlocks) {
    const most = blocks.totals.length
    this.#blocks = blocks
    this.from = new Float64Array(most)
    this.to = new Float64Array(most)
    this.level = new Uint8Array(most)
    this.#cells = new Int32Array(most)
    this.#less = new Int32Array(most)
  }

  /** Cuts for the unit that runs. */
  cut(running: number): void {
    if (running === this.#running) return
    this.#running = running
    this.parts = 0
    this.#push(0, running, running + 1)
    const { levels } = this.#blocks.shape
    let before = running
    for (let level = 0, span = 1; level < levels; level++, span *= 2) before = this.#cutLevel(level, span, before)
  }

  /** Adds the parts that a level contributes before unit `before`; returns where the level starts. */
  #cutLevel(level: number, span: number, before: number): number {
    const blocks = this.#blocks
    const running = this.#running
    const oldest = Math.max(0, Math.floor(running / span) - blocks.shape.perLevel)
    let start = before
    for (let index = Math.ceil(before / span) - 1; index >= oldest; index--) {
      const end = (index + 1) * span
      if (blocks.culls(end, running)) break
      const part = this.#push(blocks.sketchOf(level, index), index * span, Math.min(end, start))
      this.level[part] = level
      // its second half is the oldest block of the level below
      if (end > start) this.#less[part] = blocks.sketchOf(level - 1, 2 * index + 1) * blocks.size
      start = index * span
    }
    return start
  }

  #push(sketch: number, from: number, to: number): number {
    const part = this.parts++
    this.from[part] = from
    this.to[part] = to
    this.#cells[part] = sketch * this.#blocks.size
    this.#less[part] = -1
    return part
  }

  /** Returns the part that contains a unit; -1 if there is none. */
  partOf(unit: number): number {
    for (let part = 0; part < this.parts; part++) {
      if (this.from[part] <= unit && unit < this.to[part]) return part
    }
    return -1
  }

  rowCount(part: number, cell: number): number {
    const { cells } = this.#blocks
    const count = cells[this.#cells[part] + cell]
    const less = this.#less[part]
    if (less < 0 || count === FULL_CELL) return count
    const rest = count - cells[less + cell]
    // bytes of a stranger may hold a half that is more than the whole
    if (rest < 0) return 0
    return rest
  }

  count(part: number, at: Int32Array): number {
    let least = this.rowCount(part, at[0])
    for (let row = 1; row < at.length; row++) {
      const count = this.rowCount(part, at[row])
      if (count < least) least = count
    }
    return least
  }
}
