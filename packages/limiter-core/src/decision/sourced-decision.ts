import type { Policy } from '../contracts.ts'
import { SoleDecision } from './sole-decision.ts'
import { defaultAvailableAfterMs } from './verdict.ts'

/** A `SoleDecision` whose values are known when it is created. It is also a valid answer to its charge. */
export class SourcedDecision extends SoleDecision {
  readonly policy: Policy
  readonly remaining: number
  readonly retryAfterMs: number
  readonly resetAfterMs: number
  readonly availableAfterMs: number
  readonly takenAt: number
  readonly counted: boolean
  readonly #source: string

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
    super()
    this.#source = source
    this.policy = policy
    this.remaining = remaining
    this.retryAfterMs = retryAfterMs
    this.resetAfterMs = resetAfterMs
    this.availableAfterMs = availableAfterMs
    this.takenAt = takenAt
    this.counted = counted
  }

  get source(): string {
    return this.#source
  }
}
