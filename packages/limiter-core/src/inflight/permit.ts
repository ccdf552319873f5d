import type { Permit, PermitOutcome } from '../contracts.ts'

/** Called when a permit is released. */
export interface PermitOwner {
  released(permit: HeldPermit, outcome: PermitOutcome): void
}

/** A permit that notifies its owner once when it is released or revoked. */
export class HeldPermit implements Permit {
  readonly key: string
  readonly weight: number
  readonly acquiredAt: number
  readonly #home: PermitOwner
  #released = false
  #lost: AbortController | undefined
  #wasLost = false

  constructor(home: PermitOwner, key: string, weight: number, acquiredAt: number) {
    this.#home = home
    this.key = key
    this.weight = weight
    this.acquiredAt = acquiredAt
  }

  // created on first access, because most callers do not use it and a controller is the most expensive part of a permit
  get lost(): AbortSignal {
    this.#lost ??= new AbortController()
    if (this.#wasLost) this.#lost.abort()
    return this.#lost.signal
  }

  release(outcome: PermitOutcome = 'success'): void {
    if (this.#released) return
    this.#released = true
    this.#home.released(this, outcome)
  }

  /** Revokes the permit: releases it as `dropped` and aborts `lost`. */
  lose(): void {
    if (this.#released) return
    this.#wasLost = true
    this.release('dropped')
    this.#lost?.abort()
  }

  [Symbol.dispose](): void {
    this.release('success')
  }
}
