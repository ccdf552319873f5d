import type { TimedRequest } from '@sluice/fleet/backend'
import type { Answer, Charge } from '@sluice/limiter-core/backend'

/** A request of a backend call, and the functions that settle its promise. */
export interface LimitRequest extends TimedRequest {
  readonly operation: 'take' | 'peek' | 'adjust' | 'reset'
  readonly charges: readonly Charge[]
  /** Key of the row of each charge. */
  readonly keys: readonly string[]
  /** Time of the take that is adjusted, in server time; 0 for takes and peeks. */
  readonly takenAt: number
  /** Idempotency id of an adjustment that may be sent again; '' if there is none. */
  readonly id: string
  /** Time of the request on the process clock. */
  readonly requestedAt: number
  readonly resolve: (answer: Answer) => void
}

/** Whether the request reports usage, whose age is measured by the server's clock. */
export function reportsUsage({ operation, charges }: LimitRequest): boolean {
  return (operation === 'take' || operation === 'adjust') && charges.some(({ known }) => known)
}
