import type { Clock, Deadlines, MaybePromise } from '@sluice/limiter-core/backend'
import type { Deferred } from './deferred.ts'

/** A timer that runs so much late says that the process stood still. */
const OVERSLEPT_MS = 5

export interface StandstillOptions {
  readonly clock: Clock
  readonly deadlineMs: number
}

/** Tells what is late because this process stood still from what Redis does not answer. */
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
   * Whether a call of `sentAt` that is late says nothing of Redis. A process that stands still again and again excuses
   * no Redis that never answers in between.
   */
  excuses(sentAt: number): boolean {
    if (!this.#spanned(sentAt)) return false
    if (sentAt <= this.#overAt) return true
    const excused = this.#answeredSince
    this.#answeredSince = false
    if (excused) this.#overAt = this.#options.clock.now()
    return excused
  }

  /** What Redis answers, or `here` after a deadline; after a second one where this process stood still in the first. */
  async answerOf<T>(waiter: Deferred<T>, here: () => T): Promise<T> {
    const askedAt = this.#options.clock.now()
    const answered = (answer: T): T => answer
    const late = (): MaybePromise<T> =>
      this.#spanned(askedAt) ? this.#deadlines.race(waiter.promise, { answered, failed: here, late: here }) : here()
    return this.#deadlines.race<T, MaybePromise<T>>(waiter.promise, { answered, failed: here, late }, askedAt)
  }

  /** Whether this process stood still in the deadline that began at `since`, where that is late. */
  #spanned(since: number): boolean {
    const { clock, deadlineMs } = this.#options
    return clock.now() - since > deadlineMs + OVERSLEPT_MS
  }
}
