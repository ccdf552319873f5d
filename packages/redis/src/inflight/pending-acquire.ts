import type { Denial, Permit } from '@sluice/limiter-core'
import { Deferred } from './deferred.ts'

/** Places that somebody waits for. */
export class PendingAcquire extends Deferred<Permit | Denial> {
  readonly weight: number
  readonly #signal: AbortSignal | undefined

  constructor(weight: number, signal: AbortSignal | undefined) {
    super()
    this.weight = weight
    this.#signal = signal
  }

  /** True where nobody wants the places any more. */
  get gone(): boolean {
    return this.#signal?.aborted === true
  }
}
