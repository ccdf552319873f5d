import { type Answer, type Charge, ChargeVerdict, type PolicyVerdict } from '@sluice/limiter-core/backend'
import type { RowRequest } from './row-request.ts'

/** Numbers per verdict. */
const NUMBERS = 4

/** The part of a request that its answer depends on. */
export interface AnsweredRequest {
  readonly operation: RowRequest['operation']
  readonly charges: readonly Charge[]
}

export interface AnswerContext {
  /** Time of the decision. */
  readonly now: number
  /** Name of the backend. */
  readonly source: string
  /** Called for each charge of an adjustment with the number of units that were applied. */
  readonly moved: (charge: number, units: number) => void
}

/** Returns the answer with the numbers of `Decisions.decide`; undefined if `numbers` is something else. */
export function answerOfNumbers(
  numbers: unknown,
  { operation, charges }: AnsweredRequest,
  { now, source, moved }: AnswerContext,
): Answer | undefined {
  const first = operation === 'adjust' ? charges.length : 0
  if (!Array.isArray(numbers) || numbers.length !== first + NUMBERS * charges.length) return undefined
  // JSON has no Infinity
  const read = (at: number): number => numbers[at] ?? Number.POSITIVE_INFINITY
  for (let charge = 0; charge < first; charge++) moved(charge, read(charge))
  const verdicts = charges.map(({ counter, advisory }, charge): PolicyVerdict => {
    const at = first + NUMBERS * charge
    const { policy } = counter.compiled
    return new ChargeVerdict(policy, advisory === true, read(at), read(at + 1), read(at + 2), read(at + 3))
  })
  return { verdicts, takenAt: now, counted: true, source }
}
