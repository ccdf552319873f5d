import type { Answer, Charge, SourcedDecision } from '@sluice/limiter-core/backend'
import type { ReportedUsage } from '../lua/reported-usage.ts'

export type Operation = 'take' | 'peek' | 'adjust'

/** What one request asks of the counts, and whom to tell. */
export interface ScriptRequest {
  readonly operation: Operation
  readonly charges: readonly Charge[]
  /** The stored name of each charge; in a cluster all of one slot. */
  readonly names: readonly string[]
  /** Of an adjustment, else 0: when was taken what is adjusted. */
  readonly takenAt: number
  readonly deadlineAt: number | undefined
  /** Of an adjustment, else nothing: under what the server remembers that it was made. */
  readonly id: string
  /** When it was asked, by the process clock; 0 of a flat one. */
  readonly askedAt: number
  /** What the server is told of the key of each charge; undefined where it is told of none. */
  reported: readonly (ReportedUsage | undefined)[] | undefined
  /** A take of one enforced charge whose answer is a flat decision. */
  readonly flat: boolean
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
  /** True once the server said that it came too late by a clock that we knew wrong. */
  retried: boolean
}

/** A take of one enforced charge, answered by a flat decision. */
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
      // nothing is known of it from before
      askedAt: 0,
      reported: undefined,
      flat: true,
      // what is flat is both
      resolve: resolve as (answer: Answer) => void,
      reject,
      retried: false,
    }
  })
  return [request as ScriptRequest, decided]
}

/** What a script must know of a request. */
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
