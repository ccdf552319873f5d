import type { Decision, Policy, PolicyVerdict } from '../contracts.ts'
import { plainDecision } from './verdict.ts'

/**
 * The decision of one enforced policy, which is also its own verdict. Most requests have one policy, and creating three
 * objects would cost as much as the rest of the decision.
 */
export abstract class SoleDecision implements Decision, PolicyVerdict {
  abstract readonly policy: Policy
  abstract readonly remaining: number
  abstract readonly retryAfterMs: number
  abstract readonly resetAfterMs: number
  abstract readonly availableAfterMs: number
  abstract readonly takenAt: number
  abstract readonly counted: boolean
  abstract readonly source: string

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
