import { checkOptions, fractionOption, wholeOption } from '../sketch-error.ts'
import { type SeedOption, type SketchSeed, seedOf } from '../sketch-seed.ts'

/** What every Bloom filter is built from. */
export interface BloomOptions extends SeedOption {
  /** How many different keys it is built for: from 1 to 2,147,483,647. More may be added, at a higher rate. */
  readonly expected: number
  /**
   * The part of the keys that were never added of which it says that they were, once it holds `expected` keys; between
   * 10⁻⁹ and 1, neither included. 0.01 unless said.
   */
  readonly falsePositiveRate?: number | undefined
}

/** `BloomOptions`, checked. */
export interface BloomTerms {
  readonly expected: number
  readonly rate: number
  readonly seed: SketchSeed
}

export const MOST_EXPECTED: number = 2 ** 31 - 1
const LEAST_RATE = 1e-9

/** Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_SEED`. */
export function bloomTerms(owner: string, options: BloomOptions): BloomTerms {
  checkOptions(owner, options, ['expected', 'falsePositiveRate', 'seed'])
  return {
    expected: wholeOption(`${owner} expected`, options.expected, 1, MOST_EXPECTED),
    rate: fractionOption(`${owner} falsePositiveRate`, options.falsePositiveRate ?? 0.01, LEAST_RATE),
    seed: seedOf(options),
  }
}
