import { KeyRows, MAX_COLUMNS, MAX_ROWS } from './key-rows.ts'
import { SignedRows } from './signed-rows.ts'
import { checkOptions, wholeAmount, wholeOption } from './sketch-error.ts'
import { type SeedOption, type SketchKey, seedOf } from './sketch-seed.ts'

export interface InflightOptions extends SeedOption {
  /** Default: 4, at most 32. */
  readonly rows?: number | undefined
  /** Cells of a row; default: 8,192, at most 2²⁴. 4 bytes each. */
  readonly slots?: number | undefined
}

/** A permit of `Inflight.incr`. Only the first release has an effect; `using` releases it. */
export interface InflightPermit extends Disposable {
  /** Count of the key when this permit was created, including itself; or more. */
  readonly count: number
  release(): void
}

const OPTIONS = ['rows', 'slots', 'seed'] as const
const ROWS = 4
const SLOTS = 8192

/**
 * Counts concurrent work per key, for any number of keys in fixed memory; default: 128 KiB. Its semantics and numbers
 * are those of the Inflight of pingora-limits (Cloudflare, 0.8); a permit is released once, however often `release`
 * is called.
 *
 * A count is never too small. It is too large if all cells of a key are shared with other keys in flight: two given
 * keys share all cells with probability slots^-rows, 2⁻⁵² by default. Counts stop at 2³¹ - 1, as in `Estimator`.
 */
export class Inflight {
  readonly #counts: SignedRows

  /** Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_SEED`. */
  constructor(options: InflightOptions = {}) {
    checkOptions('Inflight', options, OPTIONS)
    const rows = wholeOption('rows', options.rows ?? ROWS, 1, MAX_ROWS)
    const slots = wholeOption('slots', options.slots ?? SLOTS, 1, MAX_COLUMNS)
    this.#counts = new SignedRows(new KeyRows(slots, rows, seedOf(options)))
  }

  /** Counts `value` more, 0 or more, until its permit is released. Throws `SLUICE_BAD_AMOUNT`. */
  incr(key: SketchKey, value = 1): InflightPermit {
    wholeAmount(value)
    const { keys } = this.#counts
    const { low, high } = keys.seed.hashOf(key)
    keys.aimAt(low, high)
    return new CountedPermit(this.#counts, { low, high, value })
  }

  /** Returns the current count of `key`, or more. */
  get(key: SketchKey): number {
    this.#counts.keys.aim(key)
    return this.#counts.least()
  }
}

interface Counted {
  readonly low: number
  readonly high: number
  readonly value: number
}

/** Stores the hash instead of the key, so that a permit that is held for long does not keep a large key in memory. */
class CountedPermit implements InflightPermit {
  readonly count: number
  readonly #counts: SignedRows
  readonly #counted: Counted
  #released = false

  constructor(counts: SignedRows, counted: Counted) {
    this.#counts = counts
    this.#counted = counted
    this.count = counts.add(counted.value)
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    const { low, high, value } = this.#counted
    this.#counts.keys.aimAt(low, high)
    this.#counts.take(value)
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
