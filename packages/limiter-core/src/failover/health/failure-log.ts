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
  /** The last failure, until the backend has recovered. */
  #why: string | undefined
  /** Warnings since the backend began to fail. */
  #warnings = 0
  #failingSince = Number.NaN
  /** Calls that were answered without the backend since it began to fail. */
  #uncountedInTotal = 0

  constructor(backend: string, clock: Clock) {
    this.#backend = backend
    this.#clock = clock
  }

  /** Reports that a call was answered without the backend, also while the breaker is open and the backend is not called. */
  countFallback(): void {
    this.#uncounted++
    this.#uncountedInTotal++
    if (this.#why !== undefined) this.#warnIfDue(this.#why, this.#clock.now())
  }

  /** Reports a failure, which is printed unless the last warning is less than a second old. */
  failed(cause: string, error: unknown): void {
    const now = this.#clock.now()
    if (Number.isNaN(this.#failingSince)) this.#failingSince = now
    this.#why = cause === UNKNOWN_CAUSE ? messageOf(error) : `${cause}: ${messageOf(error)}`
    this.#warnIfDue(this.#why, now)
  }

  /** Reports that the backend has recovered. */
  recovered(): void {
    const ms = Math.round(this.#clock.now() - this.#failingSince)
    const took = Number.isNaN(ms) ? '' : ` after ${ms} ms`
    const text = `backend '${this.#backend}' recovered${took}; ${this.#uncountedInTotal} calls were answered without it`
    if (this.#warnings > 0) warn('SLUICE_BACKEND_RECOVERED', text)
    this.#why = undefined
    this.#warnings = 0
    this.#failingSince = Number.NaN
    this.#uncountedInTotal = 0
    this.#uncounted = 0
  }

  #warnIfDue(why: string, now: number): void {
    if (now < this.#warnedAt + EVERY_MS * 2 ** Math.min(DOUBLINGS, this.#warnings)) return
    this.#warnedAt = now
    this.#warnings++
    const calls = this.#uncounted > 1 ? ` (${this.#uncounted} since the last warning)` : ''
    this.#uncounted = 0
    const consequence = `affected calls are answered without it${calls}`
    warn('SLUICE_BACKEND_FAILED', `backend '${this.#backend}' failed: ${why}; ${consequence}`)
  }
}
