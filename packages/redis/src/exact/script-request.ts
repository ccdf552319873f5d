import type { TimedRequest } from '@sluice/fleet/backend'
import type { Answer, Charge, SoleDecision } from '@sluice/limiter-core/backend'
import type { ReportedUsage } from '../lua/reported-usage.ts'

export type Operation = 'take' | 'peek' | 'adjust'

/** A request of a backend call, and the functions that settle its promise. */
export interface ScriptRequest extends TimedRequest {
  readonly operation: Operation
  readonly charges: readonly Charge[]
  /** Redis key of each charge. In a cluster all keys are in one slot. */
  readonly names: readonly string[]
  /** Time of the take that is adjusted, in server time; 0 for takes and peeks. */
  readonly takenAt: number
  /** Idempotency id of an adjustment; '' for takes and peeks. */
  readonly id: string
  /** Time of the request on the process clock; 0 for flat requests. */
  readonly requestedAt: number
  /** Usage to report for the key of each charge; undefined if there is nothing to report. */
  reported: readonly (ReportedUsage | undefined)[] | undefined
  /** Whether the request is a take of one enforced charge that resolves with a `SoleDecision`. */
  readonly flat: boolean
  readonly resolve: (answer: Answer) => void
}

/** Creates a take of one enforced charge, and the promise of its decision. */
export function requestOfOne(
  charge: Charge,
  name: string,
  deadlineAt: number | undefined,
): [ScriptRequest, Promise<SoleDecision>] {
  let request: ScriptRequest | undefined
  const decided = new Promise<SoleDecision>((resolve, reject) => {
    request = {
      operation: 'take',
      charges: [charge],
      names: [name],
      takenAt: 0,
      deadlineAt,
      id: '',
      // only needed for prior usage, which a flat request does not have
      requestedAt: 0,
      reported: undefined,
      flat: true,
      // a `SoleDecision` is also an `Answer`
      resolve: resolve as (answer: Answer) => void,
      reject,
      retried: false,
    }
  })
  return [request as ScriptRequest, decided]
}

/** The part of a request that is sent to the script. */
export type RequestCharges = Pick<ScriptRequest, 'operation' | 'takenAt' | 'id' | 'names' | 'charges' | 'reported'>

/** Whether two requests differ only in their keys and neither reports usage. */
export function isSameRequest(a: RequestCharges, b: RequestCharges): boolean {
  if (a.operation !== b.operation || a.takenAt !== b.takenAt || a.id !== b.id) return false
  if (a.reported || b.reported) return false
  if (a.charges.length !== b.charges.length) return false
  for (let index = 0; index < a.charges.length; index++) {
    if (!chargesAlike(a.charges[index], b.charges[index])) return false
  }
  return true
}

function chargesAlike(a: Charge, b: Charge): boolean {
  if (a.hold || b.hold) return false
  return a.counter === b.counter && a.cost === b.cost && a.advisory === b.advisory
}
