import type { Answer, Charge } from '@sluice/limiter-core/backend'

export type Operation = 'take' | 'peek' | 'adjust' | 'reset'

/** A request of a backend call, and the functions that settle its promise. */
export interface LimitRequest {
  readonly operation: Operation
  /** Charges with a cost of 0 for a reset. */
  readonly charges: readonly Charge[]
  /** Row of each charge. */
  readonly names: readonly string[]
  /** Server time of the take that is adjusted; 0 for other operations. */
  readonly takenAt: number
  /** Idempotency id of an adjustment; undefined if it cannot be repeated. */
  readonly id: string | undefined
  /** Time of the request on the process clock. */
  readonly requestedAt: number
  /** Time on the process clock after which the request must not be counted. */
  readonly deadlineAt: number
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
  /** Number of statements that could not count it. */
  attempts: number
  /** Units that an earlier call with the same id applied, by row. */
  applied: ReadonlyMap<string, number> | undefined
}
