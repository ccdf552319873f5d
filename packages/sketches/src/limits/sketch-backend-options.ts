import type { Clock, Duration } from '@sluice/limiter-core'
import { type CellBits, cellBitsOf } from '../cells.ts'
import { checkOptions, described, fractionOption, SketchError, wholeOption } from '../sketch-error.ts'

/** How much of the past is kept, so that policies may have windows of any length. */
export interface HistoryOptions {
  /** Windows are multiples of it. */
  readonly unit: Duration
  /** The longest window. */
  readonly keep: Duration
  /**
   * Blocks of each length, 1 to 64; default: 4. What counts whole begins at most 2 / n of a window before it (with 1
   * up to two windows), for n times the memory.
   */
  readonly blocksPerLevel?: number | undefined
}

export interface SketchBackendOptions {
  /** All that is ever kept, in bytes; default: 4 MiB, from 64 KiB to 2 GiB. Allocated at once. */
  readonly bytes?: number
  /**
   * 16 secret bytes or more, text as UTF-8, from which the places of keys are drawn; default: random. Whoever knows
   * it can make keys that are counted as somebody else's.
   */
  readonly seed?: Uint8Array | string | undefined
  /** Slots of the window, 1 to 60; default: 2. Each draws places of its own. Not with `history`. */
  readonly slots?: number | undefined
  /** Bits of a cell; default: 16, for limits up to 65,534. 8 hold limits up to 254, 32 up to 4,294,967,294. Not with `history`, which has 32. */
  readonly cells?: CellBits | undefined
  /** Counts more closely, and takes nothing back: refunds are dropped. Default: off. Not with `history`. */
  readonly conservative?: boolean | undefined
  /** The share of clients that noise may deny before observers hear `saturated`; default: 0.01. */
  readonly falseDenialRate?: number | undefined
  /** Windows of any length, instead of one in slots. */
  readonly history?: HistoryOptions | undefined
  readonly clock?: Clock | undefined
}

/** Options with nothing left to say. */
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
  throw new SketchError('SLUICE_BAD_OPTION', `${unused}: expected one of the two, received it beside history`)
}
