import type { Policy } from './contracts.ts'
import { SoleDecision } from './sole-decision.ts'

/** The decision of one enforced policy that another backend than memory counted; an answer to its one charge as well. */
export class SourcedDecision extends SoleDecision {
  readonly #source: string

  constructor(
    source: string,
    policy: Policy,
    remaining: number,
    retryAfterMs: number,
    resetAfterMs: number,
    takenAt: number,
  ) {
    super(policy, remaining, retryAfterMs, resetAfterMs, takenAt)
    this.#source = source
  }

  override get source(): string {
    return this.#source
  }
}
