import { MAX_COLUMNS, MAX_ROWS } from '../key-rows.ts'
import { checkOptions, SketchError, wholeOption } from '../sketch-error.ts'
import type { SeedOption } from '../sketch-seed.ts'

export interface CountRangeOptions extends SeedOption {
  /** Keys are 0 to 2^bits - 1, of 1 to 52 bits; default: 32. */
  readonly bits?: number | undefined
  /** Cells of a row of each count-min, 1 to 2²⁴. */
  readonly width: number
  /** Rows of each count-min, 1 to 32. */
  readonly depth: number
}

export interface CountRangeShape {
  readonly bits: number
  readonly width: number
  readonly depth: number
  /** The last depth of the tree that is counted exactly. */
  readonly exactDepth: number
}

/** A node has one bit more than a key, and has to be a safe integer. */
const MAX_BITS = 52
const MAX_BYTES = 2 ** 32

/** Throws `SLUICE_BAD_OPTION`. */
export function rangeShape(options: CountRangeOptions): CountRangeShape {
  checkOptions('CountRange', options, ['bits', 'width', 'depth', 'seed'])
  const shape = shapeOf(
    wholeOption('bits', options.bits === undefined ? 32 : options.bits, 1, MAX_BITS),
    wholeOption('width', options.width, 1, MAX_COLUMNS),
    wholeOption('depth', options.depth, 1, MAX_ROWS),
  )
  if (keptBytesOf(shape) <= MAX_BYTES) return shape
  throw new SketchError(
    'SLUICE_BAD_OPTION',
    `width, depth: expected at most 4 GiB in total, received ${keptBytesOf(shape)} bytes`,
  )
}

/** Bytes that three words of a head mean. */
export function keptBytes([bits, width, depth, rest]: readonly number[]): number | undefined {
  if (bits < 1 || bits > MAX_BITS || width < 1 || width > MAX_COLUMNS || depth < 1 || depth > MAX_ROWS) {
    return undefined
  }
  const bytes = keptBytesOf(shapeOf(bits, width, depth))
  return rest === 0 && bytes <= MAX_BYTES ? bytes : undefined
}

/** Exact nodes take 8 bytes each and the cells of a count-min 4. */
export function keptBytesOf({ bits, width, depth, exactDepth }: CountRangeShape): number {
  return 8 * exactCells(exactDepth) + 4 * (bits - exactDepth) * width * depth
}

/** All nodes down to a depth, and one that is not used. */
export function exactCells(exactDepth: number): number {
  return 2 ** (exactDepth + 1)
}

function shapeOf(bits: number, width: number, depth: number): CountRangeShape {
  return { bits, width, depth, exactDepth: Math.min(bits, Math.floor(Math.log2(width * depth))) }
}
