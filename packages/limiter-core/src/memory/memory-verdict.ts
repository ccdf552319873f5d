import type { Policy, PolicyVerdict, Step } from '../contracts.ts'
import { plainVerdict } from '../verdict.ts'
import { availableThen, type KeptKey, keptKey } from './kept-key.ts'
import type { SlotRef } from './shard.ts'

/** What one of several policies answers in memory. */
export class MemoryVerdict implements PolicyVerdict {
  readonly policy: Policy
  readonly shadow: boolean
  readonly allowed: boolean
  readonly remaining: number
  readonly retryAfterMs: number
  readonly resetAfterMs: number
  readonly #step: Step
  readonly #kept: KeptKey

  constructor(step: Step, shadow: boolean, place: SlotRef, now: number, remaining: number, waitMs: number) {
    const resetAfterMs = step.resetAfterMs(place.cells, place.at, now)
    this.policy = step.policy
    this.shadow = shadow
    this.allowed = waitMs === 0
    this.remaining = remaining
    this.retryAfterMs = waitMs
    this.resetAfterMs = resetAfterMs
    this.#step = step
    this.#kept = keptKey(step, place, now, remaining, resetAfterMs)
  }

  get availableAfterMs(): number {
    return availableThen(this.#step, this.#kept, this.remaining)
  }

  toJSON(): PolicyVerdict {
    return plainVerdict(this)
  }
}
