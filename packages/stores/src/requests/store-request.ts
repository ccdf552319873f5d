import type { RowRequest, TimedRequest } from '@sluice/fleet/backend'
import type { Answer, Charge } from '@sluice/limiter-core/backend'

/** A request of a backend call, and the functions that settle its promise. */
export interface StoreRequest extends TimedRequest {
  readonly operation: RowRequest['operation']
  readonly charges: readonly Charge[]
  /** Name of the row of each charge. */
  readonly names: readonly string[]
  /** Names of the rows of the idempotency id, one per charge; undefined without an id. */
  readonly doneNames: readonly string[] | undefined
  /** All rows of the request, without repetitions. */
  readonly rows: readonly string[]
  /** Time of the take that is adjusted, in the store's time; 0 for other operations. */
  readonly takenAt: number
  /** Time of the request on the process clock. */
  readonly requestedAt: number
  /** Position among the requests of the backend. */
  readonly position: number
  /** Number of writes that the store refused because a version had changed. */
  conflicts: number
  readonly resolve: (answer: Answer) => void
}
