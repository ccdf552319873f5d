import { type CellBits, cellBitsOf } from '../cells.ts'
import { MAX_COLUMNS, MAX_ROWS } from '../key-rows.ts'
import { SketchBuffer } from '../sketch-buffer.ts'
import { checkOptions, described, fractionOption, SketchError, wholeOption } from '../sketch-error.ts'
import type { SeedOption, SketchSeed } from '../sketch-seed.ts'

export interface CountMinOptions extends SeedOption {
  /** Cells of a row, 1 to 2²⁴: an estimate is too large by at most e / width of all that was counted. */
  readonly width: number
  /** Rows, 1 to 32: it is so but with chance e^-depth. */
  readonly depth: number
  /** Bits of a cell, default 32. A cell that is full (255, 65,535, 2³² - 1) stays full, and reads so. */
  readonly cells?: CellBits | undefined
  /** Raises only the cells that are too small: smaller estimates, and no `remove`, `innerProduct` or shared memory. */
  readonly conservative?: boolean | undefined
  /** Whether worker threads share the memory by `buffer` and `attach`. Requires `seed`. */
  readonly shared?: boolean | undefined
}

/** Options of `fromError` besides the error. */
export type CountMinCellOptions = Omit<CountMinOptions, 'width' | 'depth'>

export interface CountMinShape {
  readonly width: number
  readonly depth: number
  readonly bits: CellBits
  readonly conservative: boolean
  readonly shared: boolean
}

/** Index of the total in the header, if threads do not share it. */
export const TOTAL = 0

const CONSERVATIVE = 1
const SHARED = 2
const NAMES = ['width', 'depth', 'cells', 'conservative', 'shared', 'seed']

/** Throws `SLUICE_BAD_OPTION`. */
export function shapeOfOptions(options: CountMinOptions): CountMinShape {
  checkOptions('CountMin', options, NAMES)
  const shape = {
    width: wholeOption('width', options.width, 1, MAX_COLUMNS),
    depth: wholeOption('depth', options.depth, 1, MAX_ROWS),
    bits: cellBitsOf('cells', options.cells === undefined ? 32 : options.cells),
    conservative: flagOption('conservative', options.conservative),
    shared: flagOption('shared', options.shared),
  }
  if (shape.shared) checkShared(shape.conservative, options.seed)
  return shape
}

function checkShared(conservative: boolean, seed: unknown): void {
  // the smallest cell and the raise are two steps, and a thread between them loses its count
  if (conservative) throw new SketchError('SLUICE_BAD_OPTION', 'shared: a conservative sketch cannot be shared')
  // without a seed, each thread would draw its own
  if (seed === undefined) throw new SketchError('SLUICE_BAD_OPTION', 'seed: threads share a sketch by an explicit seed')
}

/** ⌈e / epsilon⌉ columns and ⌈ln 1/delta⌉ rows. Throws `SLUICE_BAD_OPTION`. */
export function sizeOfError(epsilon: number, delta: number): { width: number; depth: number } {
  return {
    width: Math.ceil(Math.E / fractionOption('epsilon', epsilon)),
    depth: Math.ceil(-Math.log(fractionOption('delta', delta))),
  }
}

/** A new one, all zero. */
export function bufferOf(shape: CountMinShape, seed: SketchSeed): SketchBuffer {
  return SketchBuffer.create('countMin', cellBytesOf(shape), { seed, shape: wordsOf(shape), shared: shape.shared })
}

/** Returns the options of a buffer that `keptBytes` accepted. */
export function optionsOfKept(kept: SketchBuffer, seed: SketchSeed, shared: boolean): CountMinOptions {
  const words = [0, 1, 2, 3].map((n) => kept.shape(n))
  const { bits, ...shape } = shapeOf(words, shared) as CountMinShape
  return { ...shape, cells: bits, seed }
}

/** Throws `SLUICE_BAD_BYTES` unless the total is a whole number from 0. */
export function checkTotal(kept: SketchBuffer): void {
  const total = kept.float(TOTAL)
  if (Number.isInteger(total) && total >= 0) return
  throw new SketchError('SLUICE_BAD_BYTES', `total: expected an integer from 0, received ${total}`)
}

/** Returns a sum of totals that stays finite after any number of merges, so that it can be read back. */
export function heldTotal(total: number): number {
  return Math.min(total, Number.MAX_VALUE)
}

/** The four words of a head. */
function wordsOf({ width, depth, bits, conservative, shared }: CountMinShape): number[] {
  return [width, depth, bits, (conservative ? CONSERVATIVE : 0) | (shared ? SHARED : 0)]
}

/**
 * Returns the shape in four words of a header; undefined if it is invalid. `shared`: whether it must be in shared
 * memory.
 */
function shapeOf([width, depth, bits, flags]: readonly number[], shared: boolean): CountMinShape | undefined {
  if (width < 1 || width > MAX_COLUMNS || depth < 1 || depth > MAX_ROWS) return undefined
  if (bits !== 8 && bits !== 16 && bits !== 32) return undefined
  if (shared ? flags !== SHARED : flags > CONSERVATIVE) return undefined
  return { width, depth, bits, conservative: flags === CONSERVATIVE, shared }
}

function cellBytesOf({ width, depth, bits }: CountMinShape): number {
  return (width * depth * bits) / 8
}

/** Bytes of the cells that four words of a head mean. */
export function keptBytes(shared: boolean): (words: readonly number[]) => number | undefined {
  return (words) => {
    const shape = shapeOf(words, shared)
    return shape && cellBytesOf(shape)
  }
}

/** Throws `SLUICE_SKETCH_MISMATCH` where two sketches cannot be merged; one may be shared and the other not. */
export function checkSame(mine: CountMinShape, other: CountMinShape, sameSeed: boolean): void {
  const of = ({ width, depth, bits, conservative }: CountMinShape): string =>
    `${width} x ${depth} cells of ${bits} bits${conservative ? ', conservative' : ''}`
  if (of(mine) !== of(other)) throw mismatch(of(other), of(mine))
  if (!sameSeed) throw mismatch('another seed', 'a CountMin of the same one')
}

function mismatch(got: string, expected: string): SketchError {
  return new SketchError('SLUICE_SKETCH_MISMATCH', `expected ${expected}, received ${got}`)
}

/** Throws `SLUICE_BAD_AMOUNT` unless `weight` is a whole number of 31 bits, either way. */
export function checkWeight(weight: number): void {
  if (Number.isInteger(weight) && Math.abs(weight) < 2 ** 31) return
  throw new SketchError(
    'SLUICE_BAD_AMOUNT',
    `weight: expected an integer within 31 bits, received ${described(weight)}`,
  )
}

/** Returns the error for an operation that a conservative sketch does not support. */
export function refused(what: string): SketchError {
  const why = 'a conservative count-min does not know whose count a cell holds'
  return new SketchError('SLUICE_SKETCH_UNSUPPORTED', `${what}: ${why}`)
}

function flagOption(option: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true
  throw new SketchError('SLUICE_BAD_OPTION', `${option}: expected true or false, received ${described(value)}`)
}
