import { MAX_ROWS } from '../key-rows.ts'
import { checkOptions, described, SketchError, wholeOption } from '../sketch-error.ts'
import type { SeedOption } from '../sketch-seed.ts'
import { isDecay } from './decay.ts'
import { MAX_KEYS } from './ranked-keys.ts'

/** 128 MiB of buckets. */
export const MAX_BUCKETS: number = 2 ** 24

const MIN_WIDTH = 64
const BUCKETS_A_KEY = 8
const DEPTH = 3
const DECAY = 0.9

export interface HeavyKeeperOptions extends SeedOption {
  /** Number of keys to report, from 1 to 2^20. */
  readonly k: number
  /** Buckets of a row, 8 bytes each; default: the power of two from 8k on, and 64 or more. */
  readonly width?: number | undefined
  /** Rows, from 1 to 32; default: 3. `width` × `depth` is 2^24 at most. */
  readonly depth?: number | undefined
  /**
   * A unit of another key takes one from a count of n with chance decay^n; default: 0.9. Above 0, and up to 0.999,
   * or 1, with which every such unit does, and nothing is left to chance.
   */
  readonly decay?: number | undefined
}

export interface HeavyKeeperShape {
  readonly k: number
  readonly width: number
  readonly depth: number
  readonly decay: number
}

/** Throws `SLUICE_BAD_OPTION`. */
export function heavyKeeperShape(options: HeavyKeeperOptions): HeavyKeeperShape {
  checkOptions('HeavyKeeper', options, ['k', 'width', 'depth', 'decay', 'seed'])
  const k = wholeOption('k', options.k, 1, MAX_KEYS)
  const depth = wholeOption('depth', options.depth ?? DEPTH, 1, MAX_ROWS)
  const most = Math.floor(MAX_BUCKETS / depth)
  const width = wholeOption('width', options.width ?? Math.min(widthFor(k), most), 1, most)
  return { k, width, depth, decay: decayOption(options.decay ?? DECAY) }
}

function widthFor(k: number): number {
  return Math.max(MIN_WIDTH, 2 ** Math.ceil(Math.log2(BUCKETS_A_KEY * k)))
}

function decayOption(decay: unknown): number {
  if (isDecay(decay)) return decay
  throw new SketchError(
    'SLUICE_BAD_OPTION',
    `decay: expected a number above 0, at most 0.999, or 1, received ${described(decay)}`,
  )
}
