import { UNKNOWN_CAUSE } from '../../backend/backend-failure.ts'
import type { Clock } from '../../contracts.ts'
import { messageOf } from '../../errors/errors.ts'
import { warn } from '../../errors/warn-once.ts'

const [EVERY_MS, DOUBLINGS] = [1_000, 6] // time between two warnings, doubled after each of the first six

/**
 * Prints a warning when a backend fails, ever more rarely, and another one when it has recovered. A failure that ends
 * before its warning is due is not printed, nor is its recovery.
 */
export class FailureLog {
  readonly #backend: string
  readonly #clock: Clock
  /** Calls that were answered without the backend since the last warning. */
  #uncounted = 0
  #warnedAt = Number.NEGATIVE_INFINITY
  /** The last failure whose warning is not due yet. */
  #withheld: string | undefined
  /** Warnings since the backend began to fail. */
  #warnings = 0
  #failingSince = Number.NaN
  /** Calls that were answered without the backend since it began to fail. */
  #uncountedInTotal = 0

  constructor(backend: string, clock: Clock) {
    this.#backend = backend
    this.#clock = clock
  }

  /** Reports that a call was answered without the backend. */
  countFallback(): void {
    this.#uncounted++
    this.#uncountedInTotal++
    if (this.#withheld !== undefined) this.#warnIfDue(this.#withheld, this.#clock.now())
  }

  /** Reports a failure, which is printed unless the last warning is less than a second old. */
  failed(cause: string, error: unknown): void {
    const now = this.#clock.now()
    if (Number.isNaN(this.#failingSince)) this.#failingSince = now
    this.#warnIfDue(cause === UNKNOWN_CAUSE ? messageOf(error) : `${cause}: ${messageOf(error)}`, now)
  }

  /** Reports that the backend has recovered. */
  recovered(): void {
    const ms = Math.round(this.#clock.now() - this.#failingSince)
    const took = Number.isNaN(ms) ? '' : ` after ${ms} ms`
    const text = `backend '${this.#backend}' recovered${took}; ${this.#uncountedInTotal} calls were answered without it`
    if (this.#warnings > 0) warn('SLUICE_BACKEND_RECOVERED', text)
    this.#withheld = undefined
    this.#warnings = 0
    this.#failingSince = Number.NaN
    this.#uncountedInTotal = 0
    this.#uncounted = 0
  }

  #warnIfDue(why: string, now: number): void {
    const due = now >= this.#warnedAt + EVERY_MS * 2 ** Math.min(DOUBLINGS, this.#warnings)
    this.#withheld = due || this.#warnings > 0 ? undefined : why
    if (!due) return
    this.#warnedAt = now
    this.#warnings++
    const calls = this.#uncounted > 1 ? ` (${this.#uncounted} since the last warning)` : ''
    this.#uncounted = 0
    const consequence = `affected calls are answered without it${calls}`
    warn('SLUICE_BACKEND_FAILED', `backend '${this.#backend}' failed: ${why}; ${consequence}`)
  }
}
