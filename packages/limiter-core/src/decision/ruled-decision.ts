import { SourcedDecision } from './sourced-decision.ts'

/** The decision of one policy whose backend does not answer: by the failure rule, which its source names, and uncounted. */
export class RuledDecision extends SourcedDecision {
  override get counted(): boolean {
    return false
  }
}
