import type { Answer, Charge } from '@sluice/limiter-core/backend'

/** A request of a backend call, and the functions that settle its promise. */
export interface LimitRequest {
  readonly operation: 'take' | 'peek' | 'adjust' | 'reset'
  readonly charges: readonly Charge[]
  /** Key of the row of each charge. */
  readonly keys: readonly string[]
  /** Time of the take that is adjusted, in server time; 0 for takes and peeks. */
  readonly takenAt: number
  readonly deadlineAt: number | undefined
  /** Idempotency id of an adjustment that may be sent again; '' if there is none. */
  readonly id: string
  /** Time of the request on the process clock. */
  readonly requestedAt: number
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
  /** Whether the request is sent for the second time. */
  retried: boolean
}

/** Whether a caller waits for the request until its deadline. The deadlines of adjustments and resets are much later. */
export function isUrgent({ operation, deadlineAt }: LimitRequest): boolean {
  return deadlineAt !== undefined && (operation === 'take' || operation === 'peek')
}

/** Returns the earliest deadline of the requests; Infinity if none has one. */
export function soonest(requests: readonly LimitRequest[]): number {
  return Math.min(...requests.map(({ deadlineAt = Number.POSITIVE_INFINITY }) => deadlineAt))
}

/** Whether the request reports usage, whose age is measured by the server's clock. */
export function reportsUsage({ operation, charges }: LimitRequest): boolean {
  return (operation === 'take' || operation === 'adjust') && charges.some(({ known }) => known)
}
