import type { Clock, Permit, PermitOutcome } from '../contracts.ts'

/** Wraps a permit of any backend and calls `released` once, on its first release. */
export class WatchedPermit implements Permit {
  readonly #permit: Permit
  readonly #clock: Clock
  readonly #acquiredAt: number
  #released: ((heldMs: number, outcome: PermitOutcome) => void) | undefined

  constructor(permit: Permit, clock: Clock, released: (heldMs: number, outcome: PermitOutcome) => void) {
    this.#permit = permit
    this.#clock = clock
    this.#acquiredAt = clock.now()
    this.#released = released
  }

  get lost(): AbortSignal {
    return this.#permit.lost
  }

  release(outcome: PermitOutcome = 'success'): unknown {
    try {
      // a remote backend may return a promise that rejects, which the caller must be able to handle
      return this.#permit.release(outcome)
    } finally {
      this.#report(outcome)
    }
  }

  [Symbol.dispose](): void {
    try {
      this.#permit[Symbol.dispose]()
    } finally {
      this.#report('success')
    }
  }

  #report(outcome: PermitOutcome): void {
    const released = this.#released
    this.#released = undefined
    released?.(this.#clock.now() - this.#acquiredAt, outcome)
  }
}
