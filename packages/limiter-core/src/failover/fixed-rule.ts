import type { Answer, Decision, PolicyVerdict } from '../contracts.ts'
import { SourcedDecision } from '../decision/sourced-decision.ts'
import { ChargeVerdict } from '../decision/verdict.ts'
import type { FailoverCharge, FailureRule } from './failover-counter.ts'

/** Retry time, in milliseconds, of a denial without a known end. By then, the backend may have recovered. */
export const OUTAGE_RETRY_MS = 1_000

/** Answers every request in the same way and counts nothing. */
class FixedRule implements FailureRule {
  readonly source: 'allow' | 'deny'
  readonly #remaining: number
  readonly #retryAfterMs: number

  constructor(source: 'allow' | 'deny', remaining: number, retryAfterMs: number) {
    this.source = source
    this.#remaining = remaining
    this.#retryAfterMs = retryAfterMs
  }

  takeOne({ counter }: FailoverCharge, now: number): Decision {
    const { policy } = counter.compiled
    return new SourcedDecision(this.source, policy, this.#remaining, this.#retryAfterMs, 0, now, undefined, false)
  }

  take(charges: readonly FailoverCharge[], now: number): Answer {
    return this.peek(charges, now)
  }

  peek(charges: readonly FailoverCharge[], now: number): Answer {
    const verdicts = charges.map((charge) => this.#verdict(charge))
    return { verdicts, takenAt: now, counted: false, source: this.source }
  }

  adjust(charges: readonly FailoverCharge[], _takenAt: number, now: number): Answer {
    return this.peek(charges, now)
  }

  #verdict({ counter, advisory }: FailoverCharge): PolicyVerdict {
    return new ChargeVerdict(counter.compiled.policy, advisory === true, this.#remaining, this.#retryAfterMs, 0)
  }
}

/** Admits every request; `remaining` is Infinity. */
export const ALLOW_RULE: FailureRule = new FixedRule('allow', Number.POSITIVE_INFINITY, 0)
export const DENY_RULE: FailureRule = new FixedRule('deny', 0, OUTAGE_RETRY_MS)
