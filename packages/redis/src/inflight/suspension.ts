import type { Clock, Deadlines, MaybePromise } from '@sluice/limiter-core/backend'
import type { Deferred } from './deferred.ts'

/** Minimum delay of a timer that indicates that the process was suspended. */
const OVERSLEPT_MS = 5

export interface StandstillOptions {
  readonly clock: Clock
  readonly deadlineMs: number
}

/**
 * Distinguishes late replies of Redis from replies that only appear late because this process was suspended, for
 * example by a blocked event loop.
 */
export class SuspensionDetector {
  readonly #options: StandstillOptions
  readonly #deadlines: Deadlines
  /** End of the last suspension that excused a late reply. */
  #endedAt = Number.NEGATIVE_INFINITY
  /** Whether Redis has replied since that suspension. */
  #answeredSince = true

  constructor(options: StandstillOptions, deadlines: Deadlines) {
    this.#options = options
    this.#deadlines = deadlines
  }

  /** Records a reply of Redis, so that the next suspension excuses late replies again. */
  answered(): void {
    this.#answeredSince = true
  }

  /**
   * Whether the late reply to a call sent at `sentAt` can be explained by a suspension of this process. Returns false
   * if Redis has not replied between two suspensions.
   */
  excuses(sentAt: number): boolean {
    if (!this.#spanned(sentAt)) return false
    if (sentAt <= this.#endedAt) return true
    const excused = this.#answeredSince
    this.#answeredSince = false
    if (excused) this.#endedAt = this.#options.clock.now()
    return excused
  }

  /**
   * Returns the answer that `waiter` receives, or the result of `here` after the deadline. If the process was suspended
   * before the deadline, waits for a second deadline.
   */
  async answerOf<T>(waiter: Deferred<T>, here: () => T): Promise<T> {
    const requestedAt = this.#options.clock.now()
    const answered = (answer: T): T => answer
    const late = (): MaybePromise<T> =>
      this.#spanned(requestedAt) ? this.#deadlines.race(waiter.promise, { answered, failed: here, late: here }) : here()
    return this.#deadlines.race<T, MaybePromise<T>>(waiter.promise, { answered, failed: here, late }, requestedAt)
  }

  /** Whether this process was suspended during a wait that started at `since`. Called when the deadline has passed. */
  #spanned(since: number): boolean {
    const { clock, deadlineMs } = this.#options
    return clock.now() - since > deadlineMs + OVERSLEPT_MS
  }
}
