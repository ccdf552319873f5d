import type { Clock } from '@sluice/limiter-core/backend'
import { answeredWithin, failureOf, unanswered } from '../unanswered.ts'

/** Calls of a ledger that are answered within `waitMs`, or reject with `SLUICE_COUNTERS_UNANSWERED`, as failed ones do. */
export class AnswerDeadline {
  readonly #clock: Clock
  readonly #waitMs: number

  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock
    this.#waitMs = waitMs
  }

  within<T>(answer: Promise<T>): Promise<T> {
    const known = answer.catch((error: unknown) => {
      throw failureOf('the ledger of counters', error)
    })
    const waitMs = this.#waitMs
    const late = (): Error => unanswered(`the ledger of counters gave no answer within ${waitMs} ms`)
    return answeredWithin(known, { clock: this.#clock, waitMs, late })
  }
}
