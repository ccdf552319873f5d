import { type Clock, KEEP_ALIVE, messageOf, SluiceError } from '@sluice/limiter-core/backend'
import { sluiceCodeOf } from './error-code.ts'

/** Creates `SLUICE_COUNTERS_UNAVAILABLE`: the call was not delivered, or its outcome is unknown. */
export function unavailableError(message: string, options?: ErrorOptions): SluiceError {
  return new SluiceError('SLUICE_COUNTERS_UNAVAILABLE', message, options)
}

/**
 * Returns Sluice errors unchanged and wraps other errors, e.g. of a database client, in
 * `SLUICE_COUNTERS_UNAVAILABLE`.
 */
export function asSluiceError(what: string, error: unknown): unknown {
  return sluiceCodeOf(error) === undefined
    ? unavailableError(`${what} failed: ${messageOf(error)}`, { cause: error })
    : error
}

/** Settles like `answer`, or rejects with the error of `late` if `answer` does not settle within `waitMs`. */
export function withTimeout<T>(
  answer: Promise<T>,
  { clock, waitMs, late }: { readonly clock: Clock; readonly waitMs: number; readonly late: () => Error },
): Promise<T> {
  return new Promise((resolve, reject) => {
    // a deadline in the past needs no timer
    if (waitMs <= 0) reject(late())
    const cancel = waitMs <= 0 ? () => {} : clock.after(waitMs, () => reject(late()), KEEP_ALIVE)
    answer.then(resolve, reject).finally(cancel)
  })
}
