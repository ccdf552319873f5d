import type { Clock, Permit, PermitOutcome } from '../contracts.ts'

/** A permit of any backend that reports its release once. */
export class WatchedPermit implements Permit {
  readonly #permit: Permit
  readonly #clock: Clock
  readonly #acquiredAt: number
  #tell: ((heldMs: number) => void) | undefined

  constructor(permit: Permit, clock: Clock, tell: (heldMs: number) => void) {
    this.#permit = permit
    this.#clock = clock
    this.#acquiredAt = clock.now()
    this.#tell = tell
  }

  get lost(): AbortSignal {
    return this.#permit.lost
  }

  release(outcome?: PermitOutcome): unknown {
    const tell = this.#tell
    this.#tell = undefined
    try {
      // a remote backend may fail to release later, which the caller of `release` must see
      return this.#permit.release(outcome)
    } finally {
      tell?.(this.#clock.now() - this.#acquiredAt)
    }
  }

  [Symbol.dispose](): void {
    this.release('success')
  }
}
