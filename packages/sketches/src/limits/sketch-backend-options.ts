import type { Clock, Duration } from '@sluice/limiter-core'
import { type CellBits, cellBitsOf } from '../cells.ts'
import { checkOptions, described, fractionOption, SketchError, wholeOption } from '../sketch-error.ts'

/** How much history is kept, so that policies can have windows of any length. */
export interface HistoryOptions {
  /** Windows must be multiples of this duration. */
  readonly unit: Duration
  /** The longest window. */
  readonly keep: Duration
  /**
   * Number of blocks of each length, 1 to 64. Default: 4. A window starts at most 2 / n of its length too early (with
   * 1: up to twice its length), for n times the memory.
   */
  readonly blocksPerLevel?: number | undefined
}

export interface SketchBackendOptions {
  /** Memory of the backend in bytes, allocated at once: 64 KiB to 2 GiB. Default: 4 MiB. */
  readonly bytes?: number | undefined
  /**
   * At least 16 secret bytes, or a string as UTF-8, from which the positions of keys are derived. Default: random.
   * With a known seed, keys can be forged that are counted as other keys.
   */
  readonly seed?: Uint8Array | string | undefined
  /** Number of slots of the window, 1 to 60, each with its own positions. Default: 2. Not allowed with `history`. */
  readonly slots?: number | undefined
  /** Bits of a cell; default: 16, for limits up to 65,534. 8 hold limits up to 254, 32 up to 4,294,967,294. Not with `history`, which has 32. */
  readonly cells?: CellBits | undefined
  /** Counts more closely, and takes nothing back: refunds are dropped. Default: off. Not with `history`. */
  readonly conservative?: boolean | undefined
  /** Fraction of clients that noise may deny before observers receive `saturated`. Default: 0.01. */
  readonly falseDenialRate?: number | undefined
  /** Windows of any length, instead of one in slots. */
  readonly history?: HistoryOptions | undefined
  readonly clock?: Clock | undefined
}

/** Validated options with all defaults. */
export interface SketchBackendPlan {
  readonly bytes: number
  readonly slots: number
  readonly cells: CellBits
  readonly conservative: boolean
  readonly falseDenialRate: number
}

const OPTIONS = ['bytes', 'seed', 'slots', 'cells', 'conservative', 'falseDenialRate', 'history', 'clock'] as const
const ONLY_SLOTS = ['slots', 'conservative', 'cells'] as const
const KIB = 2 ** 10

/** Options checked. Throws `SLUICE_BAD_OPTION`. */
export function sketchBackendPlan(options: SketchBackendOptions): SketchBackendPlan {
  checkOptions('sketchBackend', options, OPTIONS)
  const { bytes = 4 * KIB * KIB, slots = 2, cells = 16, conservative = false, falseDenialRate = 0.01 } = options
  if (typeof conservative !== 'boolean') {
    throw new SketchError(
      'SLUICE_BAD_OPTION',
      `conservative: expected true or false, received ${described(conservative)}`,
    )
  }
  if (options.history !== undefined) checkHistory(options)
  return {
    bytes: wholeOption('bytes', bytes, 64 * KIB, 2 * KIB ** 3),
    slots: wholeOption('slots', slots, 1, 60),
    cells: cellBitsOf('cells', cells),
    conservative,
    falseDenialRate: fractionOption('falseDenialRate', falseDenialRate),
  }
}

function checkHistory(options: SketchBackendOptions): void {
  checkOptions('history', options.history, ['unit', 'keep', 'blocksPerLevel'])
  const unused = ONLY_SLOTS.find((option) => options[option] !== undefined)
  if (unused === undefined) return
  throw new SketchError('SLUICE_BAD_OPTION', `${unused}: expected either ${unused} or history, received both`)
}
