import type { AnsweredVerdict } from './verdict.ts'

/**
 * The verdicts of several charges, in their order. A combination of several backends may omit charges that were not
 * read.
 */
export interface Answer {
  readonly verdicts: readonly AnsweredVerdict[]
  readonly takenAt: number
  /** One clock reading per charge, if several backends with different clocks answered together. */
  readonly takenAts?: readonly number[] | undefined
  readonly counted: boolean
  /** One value per charge, if several backends answered together. */
  readonly countedEach?: readonly boolean[] | undefined
  readonly source: string
}
