import type { Denial, Permit } from '@sluice/limiter-core'
import { Deferred } from './deferred.ts'

/** A caller that waits for places. */
export class PendingAcquire extends Deferred<Permit | Denial> {
  readonly weight: number
  readonly #signal: AbortSignal | undefined

  constructor(weight: number, signal: AbortSignal | undefined) {
    super()
    this.weight = weight
    this.#signal = signal
  }

  /** Whether the caller no longer wants the places. */
  get gone(): boolean {
    return this.#signal?.aborted === true
  }
}
