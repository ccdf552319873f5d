import type { TimedRequest } from '@sluice/fleet/backend'
import type { Answer, Charge } from '@sluice/limiter-core/backend'

/** A request of a backend call, and the functions that settle its promise. */
export interface ObjectRequest extends TimedRequest {
  readonly operation: 'take' | 'peek' | 'adjust' | 'reset'
  readonly charges: readonly Charge[]
  /** Name of the stored entry of each charge. */
  readonly names: readonly string[]
  /** Time of the take that is adjusted, in the object's time; 0 for other operations. */
  readonly takenAt: number
  /** Idempotency id of an adjustment that may be sent again; '' if there is none. */
  readonly id: string
  /** Time of the request on the process clock. */
  readonly requestedAt: number
  readonly resolve: (answer: Answer) => void
}
