import type { AcquireOptions, Clock, Denial, InflightBackend, Permit } from '../contracts.ts'
import { FULL, WEIGHT_EXCEEDS_LIMIT } from './cap-answers.ts'
import { MaxHoldTimer } from './max-hold-timer.ts'
import { HeldPermit, type PermitOwner } from './permit.ts'

export interface MemoryInflightOptions {
  readonly limit: number
  readonly clock: Clock
  /** Milliseconds after which a permit is revoked; undefined for never. */
  readonly maxHoldMs: number | undefined
  /** Called when a permit is released or revoked. */
  readonly released: (key: string, heldMs: number) => void
}

/** Stores permits in this process, with an exact count per key. A key needs memory only while it holds a place. */
export class MemoryInflight implements InflightBackend, PermitOwner {
  readonly isLocal = true
  readonly #options: MemoryInflightOptions
  readonly #held = new Map<string, number>()
  readonly #timer: MaxHoldTimer | undefined

  constructor(options: MemoryInflightOptions) {
    this.#options = options
    this.#timer = options.maxHoldMs === undefined ? undefined : new MaxHoldTimer(options.clock, options.maxHoldMs)
  }

  acquire(key: string, { weight = 1, signal, cap }: AcquireOptions = {}): Permit | Denial {
    const limit = cap?.limit ?? this.#options.limit
    if (weight > limit) return WEIGHT_EXCEEDS_LIMIT
    const held = this.count(key)
    if (signal?.aborted || held + weight > limit) return FULL
    this.#held.set(key, held + weight)
    const permit = new HeldPermit(this, key, weight, this.#options.clock.now())
    this.#timer?.add(permit)
    return permit
  }

  count(key: string): number {
    return this.#held.get(key) ?? 0
  }

  released(permit: HeldPermit): void {
    const left = this.count(permit.key) - permit.weight
    if (left > 0) this.#held.set(permit.key, left)
    else this.#held.delete(permit.key)
    this.#timer?.delete(permit)
    this.#options.released(permit.key, this.#options.clock.now() - permit.acquiredAt)
  }

  close(): void {
    this.#timer?.close()
  }
}
