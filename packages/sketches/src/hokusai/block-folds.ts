import { foldRows } from './cell-sums.ts'
import type { TimeBlocks } from './time-blocks.ts'

/**
 * Joint aggregation: block j of the time aggregation, folded j times (B[j] in the paper), one block per level.
 * Computed from the blocks and not part of the bytes of a sketch; together it has fewer cells than two sketches.
 */
export class BlockFolds {
  readonly #blocks: TimeBlocks
  readonly #folds: Uint32Array[]

  constructor(blocks: TimeBlocks) {
    const { levels, width, depth } = blocks.shape
    this.#blocks = blocks
    this.#folds = Array.from({ length: levels }, (_, level) => new Uint32Array((width >> level) * depth))
    this.fold(levels)
  }

  widthOf(level: number): number {
    return this.#blocks.shape.width >> level
  }

  /** Folds the blocks of the lowest `levels` levels again. */
  fold(levels: number): void {
    const { shape, cells, size } = this.#blocks
    const { width, depth } = shape
    for (let level = 0; level < levels; level++) {
      const to = { cells: this.#folds[level], at: 0, width: width >> level }
      foldRows(to, { cells, at: this.#blocks.sketchOf(level, 0) * size, width }, depth)
    }
  }

  /** The cell of a row of a folded block, of the key that has cell `at` in one of full width. */
  rowCount(level: number, row: number, at: number): number {
    const width = this.#blocks.shape.width >> level
    return this.#folds[level][row * width + (at & (width - 1))]
  }
}
