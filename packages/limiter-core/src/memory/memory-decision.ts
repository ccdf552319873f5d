import type { Policy, Step } from '../contracts.ts'
import { SoleDecision } from '../sole-decision.ts'
import { availableThen, type KeptKey, keptKey, resetThen } from './kept-key.ts'
import type { SlotRef } from './shard.ts'

/** The decision of one policy in memory. */
export class MemoryDecision extends SoleDecision {
  readonly remaining: number
  readonly retryAfterMs: number
  readonly #step: Step
  readonly #kept: KeptKey

  constructor(step: Step, place: SlotRef, now: number, remaining: number, waitMs: number, resetAfterMs: number) {
    super()
    this.remaining = remaining
    this.retryAfterMs = waitMs
    this.#step = step
    this.#kept = keptKey(step, place, now, remaining, resetAfterMs)
  }

  get policy(): Policy {
    return this.#step.policy
  }

  get takenAt(): number {
    return this.#kept[0]
  }

  get resetAfterMs(): number {
    return resetThen(this.#step, this.#kept)
  }

  get availableAfterMs(): number {
    return availableThen(this.#step, this.#kept, this.remaining)
  }

  get counted(): boolean {
    return true
  }

  get source(): string {
    return 'memory'
  }
}
