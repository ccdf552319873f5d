import type { CompiledPolicy, Policy } from '../contracts.ts'
import { SoleDecision } from '../decision/sole-decision.ts'
import type { AnswerSource } from './answer-source.ts'
import { availableAfterOf, type KeptKey, keptKey, resetAfterOf } from './kept-key.ts'
import type { SlotRef } from './shard.ts'

/** The decision of a single policy that is counted in memory. */
export class MemoryDecision extends SoleDecision {
  readonly remaining: number
  readonly retryAfterMs: number
  readonly #compiled: CompiledPolicy
  readonly #kept: KeptKey
  readonly #source: AnswerSource

  constructor(
    source: AnswerSource,
    compiled: CompiledPolicy,
    place: SlotRef,
    now: number,
    remaining: number,
    waitMs: number,
    resetAfterMs: number,
  ) {
    super()
    this.#source = source
    this.remaining = remaining
    this.retryAfterMs = waitMs
    this.#compiled = compiled
    this.#kept = keptKey(compiled, place, now, remaining, resetAfterMs)
  }

  get policy(): Policy {
    return this.#compiled.policy
  }

  get takenAt(): number {
    return this.#kept[0]
  }

  get resetAfterMs(): number {
    return resetAfterOf(this.#compiled, this.#kept)
  }

  get availableAfterMs(): number {
    return availableAfterOf(this.#compiled, this.#kept, this.remaining)
  }

  get counted(): boolean {
    return this.#source.counted
  }

  get source(): string {
    return this.#source.name
  }
}
