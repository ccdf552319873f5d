import type { Policy } from './contracts.ts'
import { SoleDecision } from './sole-decision.ts'

/** The decision of one policy whose backend does not answer: by the failure rule, and uncounted. */
export class RuledDecision extends SoleDecision {
  readonly ruledBy: string

  constructor(
    ruledBy: string,
    policy: Policy,
    remaining: number,
    retryAfterMs: number,
    resetAfterMs: number,
    takenAt: number,
  ) {
    super(policy, remaining, retryAfterMs, resetAfterMs, takenAt)
    this.ruledBy = ruledBy
  }

  override get counted(): boolean {
    return false
  }

  override get source(): string {
    return this.ruledBy
  }
}
