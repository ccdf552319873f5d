import type { AnsweredVerdict } from './verdict.ts'

/** One verdict for each charge, in their order; a composite of several backends may leave out charges not asked. */
export interface Answer {
  readonly verdicts: readonly AnsweredVerdict[]
  readonly takenAt: number
  /** One reading for each charge, where several backends with clocks of their own answered together. */
  readonly takenAts?: readonly number[] | undefined
  readonly counted: boolean
  /** One for each charge, where several backends answered together. */
  readonly countedEach?: readonly boolean[] | undefined
  readonly source: string
}
