import { AVAILABLE_AFTER, NUMBERS, REMAINING, RESET_AFTER, WAIT } from '../algorithms/verdict-numbers.ts'
import type { Policy, PolicyVerdict } from '../contracts.ts'
import { SoleDecision } from '../decision/sole-decision.ts'
import { ChargeVerdict, RequestDecision } from '../decision/verdict.ts'
import type { AnswerSource } from './answer-source.ts'

/** Makes verdicts and answers of the numbers that a policy has written. */
export class MemoryAnswers {
  /** Source of all further answers. */
  source: AnswerSource
  /** The numbers of the current verdict; see `CompiledPolicy.take`. */
  readonly numbers: Float64Array = new Float64Array(NUMBERS)

  constructor(source: AnswerSource) {
    this.source = source
  }

  /** Returns the decision of one policy. */
  sole(policy: Policy, now: number, isAdvisory: boolean): SoleDecision | RequestDecision {
    const { numbers, source } = this
    const waitMs = numbers[WAIT]
    // shadow mode does not deny
    if (isAdvisory && waitMs > 0) return this.answer([this.verdict(policy, true)], now)
    const remaining = numbers[REMAINING]
    const resetMs = numbers[RESET_AFTER]
    const availableMs = numbers[AVAILABLE_AFTER]
    const { name, counted } = source
    return new SoleDecision(name, policy, remaining, waitMs, resetMs, now, availableMs, counted, isAdvisory)
  }

  verdict(policy: Policy, isAdvisory: boolean): PolicyVerdict {
    const { numbers } = this
    return new ChargeVerdict(
      policy,
      isAdvisory,
      numbers[REMAINING],
      numbers[WAIT],
      numbers[RESET_AFTER],
      numbers[AVAILABLE_AFTER],
    )
  }

  answer(verdicts: PolicyVerdict[], now: number): RequestDecision {
    const { counted, name } = this.source
    return new RequestDecision({ verdicts, takenAt: now, counted, source: name })
  }
}
