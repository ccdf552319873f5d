import type { Decision, Policy, PolicyVerdict } from '../contracts.ts'
import { defaultAvailableAfterMs, plainDecision } from './verdict.ts'

/**
 * The decision of one enforced policy, which is also its own verdict and a valid answer to its charge. Most requests
 * have one policy, and creating three objects would cost as much as the rest of the decision.
 */
export class SoleDecision implements Decision, PolicyVerdict {
  readonly source: string
  readonly policy: Policy
  readonly remaining: number
  readonly retryAfterMs: number
  readonly resetAfterMs: number
  readonly takenAt: number
  readonly availableAfterMs: number
  readonly counted: boolean

  constructor(
    source: string,
    policy: Policy,
    remaining: number,
    retryAfterMs: number,
    resetAfterMs: number,
    takenAt: number,
    availableAfterMs: number = defaultAvailableAfterMs(retryAfterMs, resetAfterMs),
    counted: boolean = true,
  ) {
    this.source = source
    this.policy = policy
    this.remaining = remaining
    this.retryAfterMs = retryAfterMs
    this.resetAfterMs = resetAfterMs
    this.takenAt = takenAt
    this.availableAfterMs = availableAfterMs
    this.counted = counted
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

  toJSON(): Decision {
    return plainDecision(this)
  }
}
