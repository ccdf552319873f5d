import { NAMELESS } from '../backend/backend-failure.ts'
import type { Clock } from '../contracts.ts'
import { messageOf } from '../errors/errors.ts'
import { warn } from '../errors/warn-once.ts'

const EVERY_MS = 1_000

/**
 * Prints to stderr that a backend fails, at most once per second, and once that it has recovered. A failure that
 * lasts less than that second prints nothing further.
 */
export class FailureLog {
  readonly #backend: string
  readonly #clock: Clock
  /** Decisions of the failure rule since the last line. */
  #uncounted = 0
  #warnedAt = Number.NEGATIVE_INFINITY
  /** The last failure that has not been printed yet. */
  #withheld: string | undefined
  /** Whether a failure was printed and the recovery was not. */
  #isWarned = false
  #failingSince = Number.NaN
  #sinceThen = 0

  constructor(backend: string, clock: Clock) {
    this.#backend = backend
    this.#clock = clock
  }

  /** The failure rule answered. */
  ruled(): void {
    this.#uncounted++
    this.#sinceThen++
    if (this.#withheld !== undefined) this.#warnIfDue(this.#withheld, this.#clock.now())
  }

  failed(cause: string, error: unknown): void {
    const now = this.#clock.now()
    if (Number.isNaN(this.#failingSince)) this.#failingSince = now
    this.#warnIfDue(cause === NAMELESS ? messageOf(error) : `${cause}: ${messageOf(error)}`, now)
  }

  /** The breaker closed. */
  back(): void {
    const ms = Math.round(this.#clock.now() - this.#failingSince)
    const took = Number.isNaN(ms) ? '' : ` after ${ms} ms`
    const text = `backend '${this.#backend}' answers again${took}; ${this.#sinceThen} were uncounted`
    if (this.#isWarned) warn('SLUICE_BACKEND_RECOVERED', text)
    this.#withheld = undefined
    this.#isWarned = false
    this.#failingSince = Number.NaN
    this.#sinceThen = 0
    this.#uncounted = 0
  }

  #warnIfDue(why: string, now: number): void {
    const due = now >= this.#warnedAt + EVERY_MS
    this.#withheld = due || this.#isWarned ? undefined : why
    if (!due) return
    this.#warnedAt = now
    this.#isWarned = true
    const before = this.#uncounted > 1 ? `; ${this.#uncounted} uncounted since the last line` : ''
    this.#uncounted = 0
    warn('SLUICE_BACKEND_FAILED', `backend '${this.#backend}' failed: ${why}${before}`)
  }
}
