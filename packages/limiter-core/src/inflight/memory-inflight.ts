import type { AcquireOptions, Clock, Denial, InflightBackend, Permit } from '../contracts.ts'
import { HeldPermit, type PermitHome } from './permit.ts'

/** Nobody knows when a place comes back; a second is what a client may be asked to wait. */
export const RETRY_AFTER_MS = 1_000

export interface MemoryInflightOptions {
  readonly limit: number
  readonly clock: Clock
  /** Permits held longer are taken back. */
  readonly maxHoldMs: number | undefined
  readonly released: (key: string, heldMs: number) => void
}

/**
 * Permits of this process, counted exactly for each key; a key costs memory only while it holds a place. All permits
 * are held equally long at most, so that the oldest is always the next to run out: one timer for all of them.
 */
export class MemoryInflight implements InflightBackend, PermitHome {
  readonly #options: MemoryInflightOptions
  readonly #held = new Map<string, number>()
  // in the order of their acquisition; kept only where holding is bounded
  readonly #permits = new Set<HeldPermit>()
  #cancelSweep: (() => void) | undefined

  constructor(options: MemoryInflightOptions) {
    this.#options = options
  }

  acquire(key: string, { weight = 1, signal }: AcquireOptions = {}): Permit | Denial {
    const held = this.count(key)
    if (signal?.aborted || held + weight > this.#options.limit) return { allowed: false, retryAfterMs: RETRY_AFTER_MS }
    this.#held.set(key, held + weight)
    const permit = new HeldPermit(this, key, weight, this.#options.clock.now())
    if (this.#options.maxHoldMs !== undefined) {
      this.#permits.add(permit)
      if (!this.#cancelSweep) this.#sweepAfter(this.#options.maxHoldMs)
    }
    return permit
  }

  count(key: string): number {
    return this.#held.get(key) ?? 0
  }

  released(permit: HeldPermit): void {
    const left = this.count(permit.key) - permit.weight
    if (left > 0) this.#held.set(permit.key, left)
    else this.#held.delete(permit.key)
    this.#permits.delete(permit)
    this.#options.released(permit.key, this.#options.clock.now() - permit.acquiredAt)
  }

  close(): void {
    this.#cancelSweep?.()
    this.#cancelSweep = undefined
  }

  #sweepAfter(ms: number): void {
    this.#cancelSweep = this.#options.clock.after(ms, () => this.#sweep(this.#options.maxHoldMs as number))
  }

  #sweep(maxHoldMs: number): void {
    this.#cancelSweep = undefined
    const now = this.#options.clock.now()
    for (const permit of this.#permits) {
      const leftMs = permit.acquiredAt + maxHoldMs - now
      if (leftMs > 0) {
        this.#sweepAfter(leftMs)
        return
      }
      permit.lose()
    }
  }
}
