import type { Answer, PolicyVerdict } from '../contracts.ts'
import { ChargeVerdict } from '../decision/verdict.ts'
import type { FailoverCharge, FailureRule } from './failover-counter.ts'

/** Retry time, in milliseconds, of a denial without a known end. By then, the backend may have recovered. */
export const OUTAGE_RETRY_MS = 1_000

/** Admits every request; `remaining` is Infinity. */
export const ALLOW_RULE: FailureRule = fixedRule('allow', Number.POSITIVE_INFINITY, 0)
export const DENY_RULE: FailureRule = fixedRule('deny', 0, OUTAGE_RETRY_MS)

/** Returns a rule that answers every request in the same way and counts nothing. */
function fixedRule(source: 'allow' | 'deny', remaining: number, retryAfterMs: number): FailureRule {
  const verdictOf = ({ counter, advisory }: FailoverCharge): PolicyVerdict =>
    new ChargeVerdict(counter.compiled.policy, advisory === true, remaining, retryAfterMs, 0)
  const answer = (charges: readonly FailoverCharge[], now: number): Answer => {
    return { verdicts: charges.map(verdictOf), takenAt: now, counted: false, source }
  }
  return { source, take: answer, peek: answer, adjust: (charges, _takenAt, now) => answer(charges, now) }
}
