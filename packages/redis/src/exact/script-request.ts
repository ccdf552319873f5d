import type { Answer, Charge, SourcedDecision } from '@sluice/limiter-core/backend'
import type { ReportedUsage } from '../lua/reported-usage.ts'

export type Operation = 'take' | 'peek' | 'adjust'

/** A request for the counts, and its promise. */
export interface ScriptRequest {
  readonly operation: Operation
  readonly charges: readonly Charge[]
  /** The stored name of each charge; in a cluster all of one slot. */
  readonly names: readonly string[]
  /** For an adjustment, the time of the adjusted take; otherwise 0. */
  readonly takenAt: number
  readonly deadlineAt: number | undefined
  /** For an adjustment, the id under which the server remembers it; otherwise empty. */
  readonly id: string
  /** Process time of the request; 0 for a flat one. */
  readonly askedAt: number
  /** What to report about the key of each charge; undefined if there is nothing. */
  reported: readonly (ReportedUsage | undefined)[] | undefined
  /** A take of one enforced charge whose answer is a flat decision. */
  readonly flat: boolean
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
  /** Set once the server rejected it as late because of a wrong clock offset. */
  retried: boolean
}

/** Creates a take of one enforced charge that is answered by a flat decision. */
export function requestOfOne(
  charge: Charge,
  name: string,
  deadlineAt: number | undefined,
): [ScriptRequest, Promise<SourcedDecision>] {
  let request: ScriptRequest | undefined
  const decided = new Promise<SourcedDecision>((resolve, reject) => {
    request = {
      operation: 'take',
      charges: [charge],
      names: [name],
      takenAt: 0,
      deadlineAt,
      id: '',
      // there is no prior knowledge about it
      askedAt: 0,
      reported: undefined,
      flat: true,
      // a flat decision is also an answer
      resolve: resolve as (answer: Answer) => void,
      reject,
      retried: false,
    }
  })
  return [request as ScriptRequest, decided]
}

/** The members of a request that a script needs. */
export type RequestCharges = Pick<ScriptRequest, 'operation' | 'takenAt' | 'id' | 'names' | 'charges' | 'reported'>

/** Whether two requests differ in nothing but their keys. */
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
  return a.counter === b.counter && a.cost === b.cost && a.advisory === b.advisory
}
