import { addCells, addTotals, carryCells } from './cell-sums.ts'
import { checkCounted, type HokusaiShape, totalsBytes } from './hokusai-shape.ts'

/** A block of the past: [from, to) in units. */
export interface HokusaiBlock {
  readonly level: number
  readonly from: number
  readonly to: number
  /** Total over all keys. */
  readonly total: number
}

/**
 * Time aggregation: the sketch of the running unit, and on each level j the latest blocks of 2^j units that have ended,
 * each beginning at a multiple of its length. With one block a level these are the paper's M[j]: block j covers
 * [T - δ - 2^j, T - δ), δ = T mod 2^j, T the running unit.
 *
 *     T = 6    level 0                  ▪        [5, 6)
 *              level 1               ▪▪▪▪        [4, 6)
 *              level 2     ▪▪▪▪▪▪▪▪              [0, 4)
 *
 * When a unit ends, its sketch is carried up: it becomes the newest block of level 0; where that fills an even place,
 * it and the block before it become one of level 1, and so on: two passes over a sketch a unit on average. Sketches lie
 * one behind the other: the running one, then level by level, block q of a level in place q mod `perLevel`.
 */
export class TimeBlocks {
  readonly shape: HokusaiShape
  /** Cells of a sketch. */
  readonly size: number
  readonly cells: Uint32Array
  /** Total of each sketch over all keys. */
  readonly totals: Float64Array

  constructor(shape: HokusaiShape, buffer: ArrayBufferLike, from: number) {
    const sketches = 1 + shape.levels * shape.perLevel
    this.shape = shape
    this.size = shape.width * shape.depth
    this.totals = new Float64Array(buffer, from, sketches)
    this.cells = new Uint32Array(buffer, from + totalsBytes(sketches), sketches * this.size)
  }

  /** Throws `SLUICE_BAD_BYTES` where they were read from bytes that no sketch writes. */
  check(): void {
    const { totals, cells, size } = this
    for (let sketch = 0; sketch < totals.length; sketch++) {
      checkCounted(totals[sketch], cells.subarray(sketch * size, (sketch + 1) * size))
    }
  }

  /** The number of the sketch that holds block `index` of `level`: [index · 2^level, (index + 1) · 2^level). */
  sketchOf(level: number, index: number): number {
    return 1 + level * this.shape.perLevel + (index % this.shape.perLevel)
  }

  /** Whether a block that ended with unit `end` is older than what is kept at `running`. */
  culls(end: number, running: number): boolean {
    return end <= running - this.shape.retainUnits
  }

  /**
   * Ends unit `from` and all units before `to`, which are empty. The result equals ending them one by one, but the
   * work depends only on the number of blocks. Returns how many levels have new blocks.
   */
  move(from: number, to: number): number {
    const { levels } = this.shape
    let level = 0
    for (let span = 1; level < levels; level++, span *= 2) {
      const open = Math.floor(from / span)
      const next = Math.floor(to / span)
      if (next === open) break
      this.#close(level, open, next)
    }
    this.#empty(0)
    this.#cull(to)
    return level
  }

  /** Ends block `open` of a level, which contains the current unit and what was carried into it. */
  #close(level: number, open: number, next: number): void {
    const { levels, perLevel } = this.shape
    const sketch = this.sketchOf(level, open)
    // the block of the next level ends as well, since this one is its second half
    const carries = open % 2 === 1 && level < levels - 1
    const last = carries ? this.sketchOf(level, open - 1) : 0
    const keeps = open >= next - perLevel
    if (keeps && last > 0 && this.totals[last] > 0) this.#carry(sketch, last)
    else {
      if (keeps) this.#copy(sketch)
      if (!keeps && last > 0) this.#add(last)
    }
    for (let index = Math.max(open + 1, next - perLevel); index < next; index++) {
      this.#empty(this.sketchOf(level, index))
    }
  }

  #carry(sketch: number, last: number): void {
    const { cells, totals, size } = this
    carryCells(cells, size, sketch * size, last * size)
    const carried = totals[0]
    totals[0] = addTotals(carried, totals[last])
    totals[sketch] = carried
  }

  #copy(sketch: number): void {
    const { cells, totals, size } = this
    if (totals[0] === 0) {
      this.#empty(sketch)
      return
    }
    cells.copyWithin(sketch * size, 0, size)
    totals[sketch] = totals[0]
  }

  #add(last: number): void {
    const { cells, totals, size } = this
    if (totals[last] === 0) return
    addCells(cells, 0, size, cells, last * size)
    totals[0] = addTotals(totals[0], totals[last])
  }

  /** A sketch with total 0 has no counts, so that a long pause costs nothing. */
  #empty(sketch: number): void {
    const { cells, totals, size } = this
    if (totals[sketch] === 0) return
    cells.fill(0, sketch * size, (sketch + 1) * size)
    totals[sketch] = 0
  }

  // blocks of lower levels are never old enough
  #cull(running: number): void {
    const { levels, perLevel } = this.shape
    const span = 2 ** (levels - 1)
    const next = Math.floor(running / span)
    for (let index = Math.max(0, next - perLevel); index < next; index++) {
      if (this.culls((index + 1) * span, running)) this.#empty(this.sketchOf(levels - 1, index))
    }
  }

  /** Returns how many blocks of the longest level are dropped, starting with the block of unit `since`. */
  culledSince(since: number, running: number): number {
    const span = 2 ** (this.shape.levels - 1)
    if (since < 0) return 0
    return Math.max(0, Math.floor((running - this.shape.retainUnits) / span) - Math.floor(since / span))
  }

  /** Returns the blocks that are kept at `running`, level by level, the newest first. */
  described(running: number): HokusaiBlock[] {
    const { levels, perLevel } = this.shape
    const found: HokusaiBlock[] = []
    for (let level = 0, span = 1; level < levels; level++, span *= 2) {
      const next = Math.floor(running / span)
      for (let index = next - 1; index >= Math.max(0, next - perLevel); index--) {
        const to = (index + 1) * span
        if (this.culls(to, running)) break
        found.push({ level, from: index * span, to, total: this.totals[this.sketchOf(level, index)] })
      }
    }
    return found
  }

  /** Adds the counts of another instance with the same shape at the same unit. */
  merge(other: TimeBlocks): void {
    addCells(this.cells, 0, this.cells.length, other.cells, 0)
    for (let sketch = 0; sketch < this.totals.length; sketch++) {
      this.totals[sketch] = addTotals(this.totals[sketch], other.totals[sketch])
    }
  }
}
