import { checkOptions, fractionOption, wholeOption } from '../sketch-error.ts'
import { type SeedOption, type SketchSeed, seedOf } from '../sketch-seed.ts'

/** What every Bloom filter is built from. */
export interface BloomOptions extends SeedOption {
  /** How many different keys it is built for: from 1 to 2,147,483,647. More may be added, at a higher rate. */
  readonly capacity: number
  /**
   * The part of the keys that were never added of which it says that they were, once it holds `capacity` keys; between
   * 10⁻⁹ and 1, neither included. Default: 0.01.
   */
  readonly errorRate?: number | undefined
}

/** `BloomOptions`, checked. */
export interface BloomTerms {
  readonly capacity: number
  readonly rate: number
  readonly seed: SketchSeed
}

export const MOST_CAPACITY: number = 2 ** 31 - 1
const LEAST_RATE = 1e-9

/** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. */
export function bloomTerms(owner: string, options: BloomOptions): BloomTerms {
  checkOptions(owner, options, ['capacity', 'errorRate', 'seed'])
  return {
    capacity: wholeOption(`${owner} capacity`, options.capacity, 1, MOST_CAPACITY),
    rate: fractionOption(`${owner} errorRate`, options.errorRate ?? 0.01, LEAST_RATE),
    seed: seedOf(options),
  }
}
