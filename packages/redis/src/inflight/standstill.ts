import type { Clock, Deadlines, MaybePromise } from '@sluice/limiter-core/backend'
import type { Deferred } from './deferred.ts'

/** A timer that is this late indicates that the process was suspended. */
const OVERSLEPT_MS = 5

export interface StandstillOptions {
  readonly clock: Clock
  readonly deadlineMs: number
}

/** Distinguishes replies that are late because this process was suspended from replies that Redis did not send. */
export class Standstill {
  readonly #options: StandstillOptions
  readonly #deadlines: Deadlines
  /** When the last one was over. */
  #overAt = Number.NEGATIVE_INFINITY
  #answeredSince = true

  constructor(options: StandstillOptions, deadlines: Deadlines) {
    this.#options = options
    this.#deadlines = deadlines
  }

  /** A call was answered: the next standstill excuses again. */
  answered(): void {
    this.#answeredSince = true
  }

  /**
   * Whether a late call sent at `sentAt` says nothing about Redis. Repeated suspensions do not excuse a Redis that
   * never answers in between.
   */
  excuses(sentAt: number): boolean {
    if (!this.#spanned(sentAt)) return false
    if (sentAt <= this.#overAt) return true
    const excused = this.#answeredSince
    this.#answeredSince = false
    if (excused) this.#overAt = this.#options.clock.now()
    return excused
  }

  /**
   * Returns the reply of Redis, or the result of `here` after a deadline; after a second deadline if the process was
   * suspended during the first.
   */
  async answerOf<T>(waiter: Deferred<T>, here: () => T): Promise<T> {
    const askedAt = this.#options.clock.now()
    const answered = (answer: T): T => answer
    const late = (): MaybePromise<T> =>
      this.#spanned(askedAt) ? this.#deadlines.race(waiter.promise, { answered, failed: here, late: here }) : here()
    return this.#deadlines.race<T, MaybePromise<T>>(waiter.promise, { answered, failed: here, late }, askedAt)
  }

  /** Whether this process was suspended during the deadline that started at `since`. */
  #spanned(since: number): boolean {
    const { clock, deadlineMs } = this.#options
    return clock.now() - since > deadlineMs + OVERSLEPT_MS
  }
}
