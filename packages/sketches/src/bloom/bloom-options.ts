import { checkOptions, fractionOption, wholeOption } from '../sketch-error.ts'
import { type SeedOption, type SketchSeed, seedOf } from '../sketch-seed.ts'

/** Options of every Bloom filter. */
export interface BloomOptions extends SeedOption {
  /**
   * Number of different keys to build the filter for: 1 to 2,147,483,647. More can be added, at a higher false
   * positive rate.
   */
  readonly capacity: number
  /**
   * False positive rate once the filter contains `capacity` keys, between 10⁻⁹ and 1, both exclusive. Default: 0.01.
   */
  readonly errorRate?: number | undefined
}

/** `BloomOptions`, checked. */
export interface BloomTerms {
  readonly capacity: number
  readonly rate: number
  readonly seed: SketchSeed
}

export const MAX_CAPACITY: number = 2 ** 31 - 1
const MIN_RATE = 1e-9

/** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. */
export function bloomTerms(owner: string, options: BloomOptions): BloomTerms {
  checkOptions(owner, options, ['capacity', 'errorRate', 'seed'])
  return {
    capacity: wholeOption(`${owner} capacity`, options.capacity, 1, MAX_CAPACITY),
    rate: fractionOption(`${owner} errorRate`, options.errorRate ?? 0.01, MIN_RATE),
    seed: seedOf(options),
  }
}
