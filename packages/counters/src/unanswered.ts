import { AWAITED, type Clock, messageOf, SluiceError } from '@sluice/limiter-core/backend'
import { sluiceCodeOf } from './error-code.ts'

/** Nobody knows what became of a call, or it reached nobody. */
export function unanswered(message: string, options?: ErrorOptions): SluiceError {
  return new SluiceError('SLUICE_COUNTERS_UNAVAILABLE', message, options)
}

/** What failed, as an error of ours: those of clients have codes of their own, and many. */
export function failureOf(what: string, error: unknown): unknown {
  return sluiceCodeOf(error) === undefined ? unanswered(`${what} failed: ${messageOf(error)}`, { cause: error }) : error
}

/** Settles as `answer` does, or rejects with what `late` makes where there is none within `waitMs`. */
export function answeredWithin<T>(
  answer: Promise<T>,
  { clock, waitMs, late }: { readonly clock: Clock; readonly waitMs: number; readonly late: () => Error },
): Promise<T> {
  return new Promise((resolve, reject) => {
    // what is late by now waits for no timer
    if (waitMs <= 0) reject(late())
    const cancel = waitMs <= 0 ? () => {} : clock.after(waitMs, () => reject(late()), AWAITED)
    answer.then(resolve, reject).finally(cancel)
  })
}
