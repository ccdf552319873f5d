import type { Clock } from '@sluice/limiter-core/backend'
import { answeredWithin, failureOf, unanswered } from '../unanswered.ts'

/** Calls of a ledger that are answered within `waitMs`, or reject with `SLUICE_COUNTERS_UNAVAILABLE`, as failed ones do. */
export class AnswerDeadline {
  readonly #clock: Clock
  readonly #waitMs: number
  /** Of each call under way: what rejects it. */
  readonly #open = new Set<(error: Error) => void>()

  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock
    this.#waitMs = waitMs
  }

  within<T>(answer: Promise<T>): Promise<T> {
    const waitMs = this.#waitMs
    const late = (): Error => unanswered(`the ledger of counters gave no answer within ${waitMs} ms`)
    return answeredWithin(this.#endable(answer), { clock: this.#clock, waitMs, late })
  }

  /** Rejects all calls that are under way. */
  end(error: Error): void {
    for (const reject of this.#open) reject(error)
  }

  #endable<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#open.add(reject)
      const failed = (error: unknown): void => reject(failureOf('the ledger of counters', error))
      answer.then(resolve, failed).finally(() => this.#open.delete(reject))
    })
  }
}
