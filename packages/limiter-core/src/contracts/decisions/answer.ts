import type { BackendVerdict } from './verdict.ts'

/** Result of a backend call that reads or changes several charges. */
export interface Answer {
  /**
   * Verdicts of the charges, in the same order. If several backends are combined, charges after a denial may have no
   * verdict.
   */
  readonly verdicts: readonly BackendVerdict[]
  /** Clock reading of the backend at which the charges were decided. */
  readonly takenAt: number
  /** `takenAt` of each verdict. Present only if several backends, whose clocks may differ, answered together. */
  readonly takenAts?: readonly number[] | undefined
  /** Whether the backend counted the charges. False if it failed and the failure rule answered. */
  readonly counted: boolean
  /** `counted` of each verdict. Present only if several backends answered together. */
  readonly countedEach?: readonly boolean[] | undefined
  /** Name of the backend or failure rule that answered: `memory`, `redis`, `local`, ... */
  readonly source: string
}
