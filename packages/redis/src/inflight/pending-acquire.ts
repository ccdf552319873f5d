import type { Denial, Permit } from '@sluice/limiter-core'
import { Deferred } from './deferred.ts'

/** Caller that waits for places. */
export class PendingAcquire extends Deferred<Permit | Denial> {
  readonly weight: number
  readonly #signal: AbortSignal | undefined

  constructor(weight: number, signal: AbortSignal | undefined) {
    super()
    this.weight = weight
    this.#signal = signal
  }

  /** Whether the caller has aborted the acquire. */
  get gone(): boolean {
    return this.#signal?.aborted === true
  }
}
