import { KeyRows, MOST_COLUMNS, MOST_ROWS } from './key-rows.ts'
import type { RateComponents } from './proportional-rate.ts'
import { SignedRows } from './signed-rows.ts'
import { checkOptions, described, SketchError, wholeAmount, wholeOption } from './sketch-error.ts'
import { type SeedOption, type SketchKey, seedOf } from './sketch-seed.ts'

/** Where `Rate` reads time: milliseconds that do not step back. `performance` is one. */
export interface RateClock {
  now(): number
}

export interface RateOptions extends SeedOption {
  /** Whole milliseconds, at least 1. */
  readonly intervalMs: number
  /** Asked wherever a call brings no time of its own. */
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
 * How often each key comes, of any number of keys in fixed memory. Two sketches take turns: one counts the current
 * interval, the other has counted the one before. Meaning and numbers are those of the Rate of pingora-limits
 * (Cloudflare, 0.8). Counts are never too small; other keys can make them too large (`Estimator`).
 *
 * Intervals are not on a grid. One begins with the first call, whatever its key, that comes `intervalMs` or more after
 * the last one began. So after a quiet gap the previous interval may lie up to `intervalMs` further back than it seems:
 * `proportionalRate` is too large then, never too small. After two intervals without a call both are empty.
 *
 * `nowMs` is a reading of the clock that the caller has at hand: of the same one as `clock`, and 0 or more ms after the
 * last. What is no number, or lies before the current interval, counts as its first instant, and nothing is forgotten.
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
    const rows = wholeOption('rows', options.rows ?? ROWS, 1, MOST_ROWS)
    const slots = wholeOption('slots', options.slots ?? SLOTS, 1, MOST_COLUMNS)
    this.#clock = clock
    this.#keys = new KeyRows(slots, rows, seedOf(options))
    this.#current = new SignedRows(this.#keys)
    this.#previous = new SignedRows(this.#keys)
    const now = readingOf(clock)
    this.#beganAt = Number.isFinite(now) ? now : 0
  }

  /** Counts `n` more, 0 or more, and answers what the current interval has counted of `key`. Throws `SLUICE_BAD_AMOUNT`. */
  observe(key: SketchKey, n = 1, nowMs: number = this.#clock.now()): number {
    wholeAmount(n)
    this.#turn(nowMs)
    return this.#current.addTo(key, n)
  }

  /** What the previous interval counted of `key`, per second: 0 in the first one, and after two without a call. */
  rate(key: SketchKey, nowMs: number = this.#clock.now()): number {
    this.#turn(nowMs)
    this.#keys.aim(key)
    return (this.#previous.least() * 1_000) / this.intervalMs
  }

  /** What `calculate` makes of both intervals: `proportionalRate`, or a rule of your own. */
  rateWith<T>(key: SketchKey, calculate: (components: RateComponents) => T, nowMs: number = this.#clock.now()): T {
    const { intervalMs } = this
    const currentIntervalFraction = this.#turn(nowMs) / intervalMs
    this.#keys.aim(key)
    const previousSamples = this.#previous.least()
    const currentSamples = this.#current.least()
    return calculate({ previousSamples, currentSamples, intervalMs, currentIntervalFraction })
  }

  /** Begins an interval if the last one is over. Answers how many ms of the current one are. */
  #turn(nowMs: number): number {
    // what is no number has no difference, and an interval that began at such a reading would never end
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

/** What `clock` reads. Throws `SLUICE_BAD_OPTION` where it is none. */
function readingOf(clock: RateClock): number {
  const reading: unknown = typeof clock?.now === 'function' ? clock.now() : undefined
  if (typeof reading === 'number') return reading
  throw new SketchError(
    'SLUICE_BAD_OPTION',
    `clock: expected what reads ms by now(), as performance, received ${described(clock)}`,
  )
}
