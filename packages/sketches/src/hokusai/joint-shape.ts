import { checkOptions } from '../sketch-error.ts'
import { type HokusaiOptions, type HokusaiShape, shapeOfOptions, shapeOfWords } from './hokusai-shape.ts'
import { timeBytes } from './time-shape.ts'
import { unitBytes } from './unit-sketches.ts'

/** Throws `SLUICE_BAD_OPTION`. */
export function jointShapeOf(options: HokusaiOptions): HokusaiShape {
  checkOptions('Hokusai', options, ['width', 'depth', 'unitMs', 'retainMs', 'seed'])
  return shapeOfOptions(options, { folds: true })
}

/** Bytes that time and item aggregation keep, one behind the other; undefined where they would be too many. */
export function jointBytes(shape: HokusaiShape): number | undefined {
  const time = timeBytes(shape)
  const units = unitBytes(shape)
  return time === undefined || units === undefined ? undefined : time + units
}

/** Returns the bytes of a sketch with the shape in a header; undefined for an invalid shape. */
export function jointBytesOfWords(words: readonly number[]): number | undefined {
  const shape = shapeOfWords(words)
  return shape && shape.perLevel === 1 ? jointBytes(shape) : undefined
}
