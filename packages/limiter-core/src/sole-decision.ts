import type { Decision, Policy, PolicyVerdict } from './contracts.ts'
import { plainDecision } from './verdict.ts'

/**
 * The decision of one enforced policy, and its verdict as well: one flat object, since most requests meet one policy
 * and making three objects of it costs as much as the rest of the decision.
 */
export class SoleDecision implements Decision, PolicyVerdict {
  readonly policy: Policy
  readonly remaining: number
  readonly retryAfterMs: number
  readonly resetAfterMs: number
  readonly takenAt: number

  constructor(policy: Policy, remaining: number, retryAfterMs: number, resetAfterMs: number, takenAt: number) {
    this.policy = policy
    this.remaining = remaining
    this.retryAfterMs = retryAfterMs
    this.resetAfterMs = resetAfterMs
    this.takenAt = takenAt
  }

  get allowed(): boolean {
    return this.retryAfterMs === 0
  }

  get shadow(): boolean {
    return false
  }

  get verdicts(): readonly PolicyVerdict[] {
    return [this]
  }

  get binding(): PolicyVerdict {
    return this
  }

  get counted(): boolean {
    return true
  }

  get source(): string {
    return 'memory'
  }

  toJSON(): Decision {
    return plainDecision(this)
  }
}
