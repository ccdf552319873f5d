import type { Permit, PermitOutcome } from '../contracts.ts'

/** Receives a released permit. */
export interface PermitHome {
  released(permit: HeldPermit, outcome: PermitOutcome): void
}

/** A place held in memory. */
export class HeldPermit implements Permit {
  readonly key: string
  readonly weight: number
  readonly acquiredAt: number
  readonly #home: PermitHome
  #released = false
  #lost: AbortController | undefined
  #wasLost = false

  constructor(home: PermitHome, key: string, weight: number, acquiredAt: number) {
    this.#home = home
    this.key = key
    this.weight = weight
    this.acquiredAt = acquiredAt
  }

  // created on first access: most holders never use it, and a controller costs more than everything else
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

  /** Takes the place away from its holder. */
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
