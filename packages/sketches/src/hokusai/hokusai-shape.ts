import { MAX_COLUMNS, MAX_ROWS } from '../key-rows.ts'
import type { SketchBuffer } from '../sketch-buffer.ts'
import { described, SketchError, wholeOption } from '../sketch-error.ts'
import type { SeedOption } from '../sketch-seed.ts'

/** The size of a sketch over time. */
export interface HokusaiOptions extends SeedOption {
  /** Cells a row: a power of two up to 2^24. */
  readonly width: number
  /** Rows: 1 to 32. */
  readonly depth: number
  /** Length of a unit, in whole ms, up to 2^31. */
  readonly unitMs: number
  /** How long the past is kept, rounded up to whole units. Default: 4096 units. */
  readonly retainMs?: number | undefined
}

/** Options, checked; numbers that a head of bytes holds. */
export interface HokusaiShape {
  readonly width: number
  readonly depth: number
  readonly unitMs: number
  /** Number of complete units that can be read. */
  readonly retainUnits: number
  readonly perLevel: number
  /** Levels of blocks: block length 2^0 to 2^(levels - 1) units. */
  readonly levels: number
}

const MAX_PER_LEVEL = 64
const DEFAULT_UNITS = 4096
const MOST_UINT32 = 2 ** 32 - 1
const LONGEST_UNIT_MS = 2 ** 31
/** Half of the time that there is. */
const LONGEST_MS = 2 ** 51
/** 2 GiB of them. */
const MAX_CELLS = 2 ** 29

/**
 * Throws `SLUICE_BAD_OPTION`. The caller checks the names of the options. `folds`: whether units are folded as they
 * age, so that at most as many units as cells per row can be kept.
 */
export function shapeOfOptions(
  options: HokusaiOptions,
  { perLevel = 1, folds = false }: { perLevel?: number | undefined; folds?: boolean | undefined } = {},
): HokusaiShape {
  const width = wholeOption('width', options.width, 1, MAX_COLUMNS)
  if (!binary(width))
    throw new SketchError('SLUICE_BAD_OPTION', `width: expected a power of two, received ${described(width)}`)
  const depth = wholeOption('depth', options.depth, 1, MAX_ROWS)
  const unitMs = wholeOption('unitMs', options.unitMs, 1, LONGEST_UNIT_MS)
  const mostUnits = folds ? width : MOST_UINT32
  const { retainMs = Math.min(DEFAULT_UNITS, mostUnits) * unitMs } = options
  wholeOption('retainMs', retainMs, 1, LONGEST_MS)
  const retainUnits = Math.ceil(retainMs / unitMs)
  wholeOption('retainMs in whole units', retainUnits, 1, Math.min(mostUnits, Math.floor(LONGEST_MS / unitMs)))
  wholeOption('blocksPerLevel', perLevel, 1, MAX_PER_LEVEL)
  return { width, depth, unitMs, retainUnits, perLevel, levels: levelsFor(retainUnits, perLevel) }
}

export function wordsOfShape({ width, depth, unitMs, retainUnits, perLevel }: HokusaiShape): number[] {
  return [width, depth | (perLevel << 8), unitMs, retainUnits]
}

/** Returns undefined for an invalid shape. */
export function shapeOfWords([width, rows, unitMs, retainUnits]: readonly number[]): HokusaiShape | undefined {
  const depth = rows & 0xff
  const perLevel = rows >>> 8
  const sized = width >= 1 && width <= MAX_COLUMNS && binary(width) && depth >= 1 && depth <= MAX_ROWS
  const timed = unitMs >= 1 && unitMs <= LONGEST_UNIT_MS && retainUnits >= 1 && retainUnits * unitMs <= LONGEST_MS
  if (!sized || !timed || perLevel < 1 || perLevel > MAX_PER_LEVEL) return undefined
  return { width, depth, unitMs, retainUnits, perLevel, levels: levelsFor(retainUnits, perLevel) }
}

/** Returns the options for the shape in the header of `kept`, which `shapeOfWords` has validated. */
export function optionsOf(kept: SketchBuffer): HokusaiOptions & { readonly blocksPerLevel: number } {
  const rows = kept.shape(1)
  const unitMs = kept.shape(2)
  return {
    width: kept.shape(0),
    depth: rows & 0xff,
    unitMs,
    retainMs: kept.shape(3) * unitMs,
    blocksPerLevel: rows >>> 8,
  }
}

/** Returns `bytes`; throws `SLUICE_BAD_OPTION` if it is undefined because the sketch would be too large. */
export function allowedBytes(bytes: number | undefined): number {
  if (bytes !== undefined) return bytes
  throw new SketchError('SLUICE_BAD_OPTION', `width, depth and retainMs: more than ${MAX_CELLS} cells`)
}

export function fits(cells: number): boolean {
  return cells <= MAX_CELLS
}

/**
 * Throws `SLUICE_BAD_BYTES` unless a sketch can have counted `total` in `cells`. If the total is 0, the cells must be
 * 0 too: a sketch without a total is never cleared, and its counts would stay forever.
 */
export function checkCounted(total: number, cells: Uint32Array): void {
  const counted = Number.isSafeInteger(total) && total >= 0
  if (counted && (total > 0 || cells.every((count) => count === 0))) return
  throw new SketchError('SLUICE_BAD_BYTES', `a total of ${described(total)}, and other counts`)
}

/** Rounds up to 64 bytes of totals, so that the cells after them start on a cache line. */
export function totalsBytes(totals: number): number {
  return Math.ceil(totals / 8) * 64
}

// a level covers its complete blocks, and the elapsed part of the current one: least when that is empty
function levelsFor(retainUnits: number, perLevel: number): number {
  let levels = 1
  for (let reach = perLevel; reach < retainUnits; reach *= 2) levels++
  return levels
}

function binary(width: number): boolean {
  return Number.isInteger(Math.log2(width))
}
