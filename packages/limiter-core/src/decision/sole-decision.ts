import type { Decision, Policy, PolicyVerdict } from '../contracts.ts'
import { defaultAvailableAfterMs, plainDecision } from './verdict.ts'

/**
 * The decision of one policy that does not deny in shadow mode, which is also its own verdict and a valid answer to its
 * charge. Most requests have one policy, and creating three objects would cost as much as the rest of the decision.
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
  readonly shadow: boolean

  constructor(
    source: string,
    policy: Policy,
    remaining: number,
    retryAfterMs: number,
    resetAfterMs: number,
    takenAt: number,
    availableAfterMs: number = defaultAvailableAfterMs(retryAfterMs, resetAfterMs),
    counted: boolean = true,
    shadow: boolean = false,
  ) {
    this.source = source
    this.policy = policy
    this.remaining = remaining
    this.retryAfterMs = retryAfterMs
    this.resetAfterMs = resetAfterMs
    this.takenAt = takenAt
    this.availableAfterMs = availableAfterMs
    this.counted = counted
    this.shadow = shadow
  }

  get allowed(): boolean {
    return this.retryAfterMs === 0
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
