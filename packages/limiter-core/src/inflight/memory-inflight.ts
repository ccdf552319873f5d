import type { AcquireOptions, Clock, Denial, InflightBackend, Permit } from '../contracts.ts'
import { FULL, TOO_HEAVY } from './cap-denial.ts'
import { MaxHoldTimer } from './max-hold-timer.ts'
import { HeldPermit, type PermitHome } from './permit.ts'

export interface MemoryInflightOptions {
  readonly limit: number
  readonly clock: Clock
  /** Permits held longer are taken back. */
  readonly maxHoldMs: number | undefined
  readonly released: (key: string, heldMs: number) => void
}

/** Permits of this process, counted exactly for each key; a key costs memory only while it holds a place. */
export class MemoryInflight implements InflightBackend, PermitHome {
  readonly #options: MemoryInflightOptions
  readonly #held = new Map<string, number>()
  readonly #bound: MaxHoldTimer | undefined

  constructor(options: MemoryInflightOptions) {
    this.#options = options
    this.#bound = options.maxHoldMs === undefined ? undefined : new MaxHoldTimer(options.clock, options.maxHoldMs)
  }

  acquire(key: string, { weight = 1, signal }: AcquireOptions = {}): Permit | Denial {
    const { limit } = this.#options
    if (weight > limit) return TOO_HEAVY
    const held = this.count(key)
    if (signal?.aborted || held + weight > limit) return FULL
    this.#held.set(key, held + weight)
    const permit = new HeldPermit(this, key, weight, this.#options.clock.now())
    this.#bound?.add(permit)
    return permit
  }

  count(key: string): number {
    return this.#held.get(key) ?? 0
  }

  released(permit: HeldPermit): void {
    const left = this.count(permit.key) - permit.weight
    if (left > 0) this.#held.set(permit.key, left)
    else this.#held.delete(permit.key)
    this.#bound?.delete(permit)
    this.#options.released(permit.key, this.#options.clock.now() - permit.acquiredAt)
  }

  close(): void {
    this.#bound?.close()
  }
}
