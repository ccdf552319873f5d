import type { Clock } from '@sluice/limiter-core/backend'
import { asSluiceError, unavailableError, withTimeout } from '../unavailable.ts'

/**
 * Timeout for calls of a ledger. Calls that fail or take longer than `waitMs` reject with
 * `SLUICE_COUNTERS_UNAVAILABLE`.
 */
export class CallTimeout {
  readonly #clock: Clock
  readonly #waitMs: number
  /** Functions that reject the calls under way. */
  readonly #open = new Set<(error: Error) => void>()

  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock
    this.#waitMs = waitMs
  }

  within<T>(answer: Promise<T>): Promise<T> {
    const waitMs = this.#waitMs
    const late = (): Error => unavailableError(`the counter ledger did not reply within ${waitMs} ms`)
    let reject: (error: unknown) => void = () => {}
    const rejectable = new Promise<T>((resolve, rejected) => {
      reject = (error) => rejected(asSluiceError('the counter ledger', error))
      answer.then(resolve, reject)
    })
    this.#open.add(reject)
    // a call that never settles is forgotten, too
    return withTimeout(rejectable, { clock: this.#clock, waitMs, late }).finally(() => this.#open.delete(reject))
  }

  /** Rejects all calls under way with `error`. */
  end(error: Error): void {
    for (const reject of this.#open) reject(error)
  }
}
