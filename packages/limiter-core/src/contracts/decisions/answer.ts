import type { BackendVerdict } from './verdict.ts'

/** The backend or failure rule that decided charges, and the time of the decision. */
export interface AnswerOrigin {
  /** Clock reading of the backend. Pass it to `charge`, so that a refund applies to the window of the take. */
  readonly takenAt: number
  /** `takenAt` of each verdict. Present only if several backends, whose clocks may differ, answered together. */
  readonly takenAts?: readonly number[] | undefined
  /** Whether the backend counted the charges. False if it failed and the failure rule decided. */
  readonly counted: boolean
  /** `counted` of each verdict. Present only if several backends answered together. */
  readonly countedEach?: readonly boolean[] | undefined
  /** Name of the backend or failure rule that decided: `memory`, `redis`, `local`, ... Several are joined by `+`. */
  readonly source: string
}

/** Result of a backend call that reads or changes several charges. */
export interface Answer extends AnswerOrigin {
  /** Verdicts of the charges, in the same order. With several backends, charges after a denial may have no verdict. */
  readonly verdicts: readonly BackendVerdict[]
}
