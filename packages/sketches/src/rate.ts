import { KeyRows, MAX_COLUMNS, MAX_ROWS } from './key-rows.ts'
import type { RateComponents } from './proportional-rate.ts'
import { SignedRows } from './signed-rows.ts'
import { checkOptions, described, SketchError, wholeAmount, wholeOption } from './sketch-error.ts'
import { type SeedOption, type SketchKey, seedOf } from './sketch-seed.ts'

/** The clock of `Rate`: monotonic milliseconds. `performance` is one. */
export interface RateClock {
  now(): number
}

export interface RateOptions extends SeedOption {
  /** Whole milliseconds, at least 1. */
  readonly intervalMs: number
  /** Used if a call passes no time. */
  readonly clock: RateClock
  /** Default: 4, at most 32. */
  readonly rows?: number | undefined
  /** Cells of a row; default: 1,024, at most 2²⁴. 8 bytes each. */
  readonly slots?: number | undefined
}

const OPTIONS = ['intervalMs', 'clock', 'rows', 'slots', 'seed'] as const
const ROWS = 4
const SLOTS = 1024

/**
 * Rate of any number of keys in fixed memory. Two sketches alternate: one counts the current interval, the other
 * holds the previous one. Its semantics and numbers are those of the Rate of pingora-limits (Cloudflare, 0.8). Counts
 * are never too small; other keys can make them too large (`Estimator`).
 *
 * Intervals are not aligned. An interval starts with the first call, of any key, at least `intervalMs` after the
 * start of the last one. After a quiet period the previous interval may be up to `intervalMs` older than it seems:
 * `proportionalRate` is then too large, never too small. After two intervals without a call both are empty.
 *
 * `nowMs` is a clock reading that the caller already has: from the same clock as `clock`, and not before the last
 * one. NaN, or a time before the current interval, counts as its first instant, and nothing is forgotten.
 */
export class Rate {
  readonly intervalMs: number
  readonly #clock: RateClock
  readonly #keys: KeyRows
  #current: SignedRows
  #previous: SignedRows
  #beganAt: number

  /** Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_SEED`. */
  constructor(options: RateOptions) {
    checkOptions('Rate', options, OPTIONS)
    const { clock } = options
    this.intervalMs = wholeOption('intervalMs', options.intervalMs, 1, Number.MAX_SAFE_INTEGER)
    const rows = wholeOption('rows', options.rows ?? ROWS, 1, MAX_ROWS)
    const slots = wholeOption('slots', options.slots ?? SLOTS, 1, MAX_COLUMNS)
    this.#clock = clock
    this.#keys = new KeyRows(slots, rows, seedOf(options))
    this.#current = new SignedRows(this.#keys)
    this.#previous = new SignedRows(this.#keys)
    const now = readingOf(clock)
    this.#beganAt = Number.isFinite(now) ? now : 0
  }

  /** Counts `n` more, 0 or more, and returns the count of `key` in the current interval. Throws `SLUICE_BAD_AMOUNT`. */
  observe(key: SketchKey, n = 1, nowMs: number = this.#clock.now()): number {
    wholeAmount(n)
    this.#turn(nowMs)
    return this.#current.addTo(key, n)
  }

  /**
   * Returns the rate of `key` per second in the previous interval: 0 in the first one, and after two intervals
   * without a call.
   */
  rate(key: SketchKey, nowMs: number = this.#clock.now()): number {
    this.#turn(nowMs)
    this.#keys.aim(key)
    return (this.#previous.least() * 1_000) / this.intervalMs
  }

  /** Returns what `calculate` computes from both intervals: `proportionalRate`, or your own function. */
  rateWith<T>(key: SketchKey, calculate: (components: RateComponents) => T, nowMs: number = this.#clock.now()): T {
    const { intervalMs } = this
    const currentIntervalFraction = this.#turn(nowMs) / intervalMs
    this.#keys.aim(key)
    const previousSamples = this.#previous.least()
    const currentSamples = this.#current.least()
    return calculate({ previousSamples, currentSamples, intervalMs, currentIntervalFraction })
  }

  /** Starts an interval if the last one has ended. Returns the elapsed milliseconds of the current one. */
  #turn(nowMs: number): number {
    // NaN would start an interval that never ends
    const past = typeof nowMs === 'number' ? nowMs - this.#beganAt : 0
    if (past < this.intervalMs) return Math.max(past, 0)
    if (!Number.isFinite(past)) return 0
    const older = this.#previous
    older.clear()
    this.#previous = this.#current
    this.#current = older
    if (past >= 2 * this.intervalMs) this.#previous.clear()
    this.#beganAt = nowMs
    return 0
  }
}

/** Reads the clock. Throws `SLUICE_BAD_OPTION` if it is invalid. */
function readingOf(clock: RateClock): number {
  const reading: unknown = typeof clock?.now === 'function' ? clock.now() : undefined
  if (typeof reading === 'number') return reading
  throw new SketchError(
    'SLUICE_BAD_OPTION',
    `clock: expected an object with now(), such as performance, received ${described(clock)}`,
  )
}
