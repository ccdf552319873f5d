import { type Denial, type Permit, RETRY_AFTER_MS } from '@sluice/limiter-core'
import { Waiter } from './inflight-waiter.ts'

export const DENIAL: Denial = { allowed: false, retryAfterMs: RETRY_AFTER_MS }

/** Places that somebody waits for. */
export class Wish extends Waiter<Permit | Denial> {
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
