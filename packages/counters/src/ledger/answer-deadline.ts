import { AWAITED, type Clock } from '@sluice/limiter-core/backend'
import { failureOf, unanswered } from '../unanswered.ts'

/** Calls of a ledger that are answered within `waitMs`, or reject with `SLUICE_COUNTERS_UNANSWERED`, as failed ones do. */
export class AnswerDeadline {
  readonly #clock: Clock
  readonly #waitMs: number

  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock
    this.#waitMs = waitMs
  }

  within<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(unanswered(`the ledger of counters gave no answer within ${this.#waitMs} ms`))
      const cancel = this.#clock.after(this.#waitMs, late, AWAITED)
      answer.then(resolve, (error: unknown) => reject(failureOf('the ledger of counters', error))).finally(cancel)
    })
  }
}
