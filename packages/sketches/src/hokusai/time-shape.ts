import { checkOptions } from '../sketch-error.ts'
import {
  fits,
  type HokusaiOptions,
  type HokusaiShape,
  shapeOfOptions,
  shapeOfWords,
  totalsBytes,
} from './hokusai-shape.ts'

export interface HokusaiTimeOptions extends HokusaiOptions {
  /**
   * Number of blocks of each length that are kept, 1 to 64. With 1, as in the paper, a window may count up to three
   * times its length; with g it starts at most 2 / g of the window too early. Default: 1.
   */
  readonly blocksPerLevel?: number | undefined
}

const OPTIONS = ['width', 'depth', 'unitMs', 'retainMs', 'blocksPerLevel', 'seed']

/** Throws `SLUICE_BAD_OPTION`. */
export function timeShapeOf(options: HokusaiTimeOptions): HokusaiShape {
  checkOptions('HokusaiTime', options, OPTIONS)
  return shapeOfOptions(options, { perLevel: options.blocksPerLevel })
}

/** Returns the bytes of a sketch with the shape in a header; undefined for an invalid shape. */
export function timeBytesOfWords(words: readonly number[]): number | undefined {
  const shape = shapeOfWords(words)
  return shape && timeBytes(shape)
}

/** Bytes that `TimeBlocks` of this shape keep; undefined where they would be too many. */
export function timeBytes(shape: HokusaiShape): number | undefined {
  const sketches = 1 + shape.levels * shape.perLevel
  const cells = sketches * shape.width * shape.depth
  return fits(cells) ? totalsBytes(sketches) + 4 * cells : undefined
}
