import type { RemoteRequest } from '@sluice/fleet/backend'
import type { Answer, Charge, SoleDecision } from '@sluice/limiter-core/backend'
import type { ReportedUsage } from '../lua/reported-usage.ts'

/** A request that a script decides. The names are Redis keys, in a cluster all of one slot. */
export interface ScriptRequest extends RemoteRequest {
  /** Usage to report for the key of each charge. Default: there is nothing to report. */
  reported?: readonly (ReportedUsage | undefined)[] | undefined
  /** Whether the request is a take of one enforced charge that resolves with a `SoleDecision`. Default: false. */
  readonly flat?: boolean
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
      // a `SoleDecision` is also an `Answer`
      resolve: resolve as (answer: Answer) => void,
      reject,
      retried: false,
      reported: undefined,
      flat: true,
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
