import type { Clock, Permit, PermitOutcome } from '../contracts.ts'

/** A permit of any backend that tells of its release, once. */
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

  release(outcome?: PermitOutcome): void {
    this.#permit.release(outcome)
    this.#tell?.(this.#clock.now() - this.#acquiredAt)
    this.#tell = undefined
  }

  [Symbol.dispose](): void {
    this.release('success')
  }
}
