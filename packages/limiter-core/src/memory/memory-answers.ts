import { AVAILABLE_AFTER, NUMBERS, REMAINING, RESET_AFTER, WAIT } from '../algorithms/verdict-numbers.ts'
import type { Policy, PolicyVerdict } from '../contracts.ts'
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
