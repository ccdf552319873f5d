import type { CompiledPolicy, Policy, PolicyVerdict } from '../contracts.ts'
import { plainVerdict } from '../decision/verdict.ts'
import { availableAfterOf, type KeptKey, keptKey } from './kept-key.ts'
import type { SlotRef } from './shard.ts'

/** The verdict of one of several policies that are counted in memory. */
export class MemoryVerdict implements PolicyVerdict {
  readonly policy: Policy
  readonly shadow: boolean
  readonly allowed: boolean
  readonly remaining: number
  readonly retryAfterMs: number
  readonly resetAfterMs: number
  readonly #compiled: CompiledPolicy
  readonly #kept: KeptKey

  constructor(
    compiled: CompiledPolicy,
    shadow: boolean,
    place: SlotRef,
    now: number,
    remaining: number,
    waitMs: number,
  ) {
    const resetAfterMs = compiled.resetAfterMs(place.cells, place.at, now)
    this.policy = compiled.policy
    this.shadow = shadow
    this.allowed = waitMs === 0
    this.remaining = remaining
    this.retryAfterMs = waitMs
    this.resetAfterMs = resetAfterMs
    this.#compiled = compiled
    this.#kept = keptKey(compiled, place, now, remaining, resetAfterMs)
  }

  get availableAfterMs(): number {
    return availableAfterOf(this.#compiled, this.#kept, this.remaining)
  }

  toJSON(): PolicyVerdict {
    return plainVerdict(this)
  }
}
