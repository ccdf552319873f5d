import type { CompiledPolicy } from '@sluice/limiter-core/backend'
import { repetitions } from '../backend/repetitions.ts'
import type { RemoteOperation, ReportedUsage } from '../remote/remote-request.ts'

/** A charge on an entry. */
export interface RowCharge {
  /** Name of the entry. */
  readonly name: string
  readonly compiled: CompiledPolicy
  readonly cost: number
  readonly advisory: boolean
  readonly known: ReportedUsage | undefined
}

/** A request that is decided on entries in memory. */
export interface RowRequest {
  readonly operation: RemoteOperation
  /** Time of the take that is adjusted; ignored for other operations. */
  readonly takenAt: number
  /** Names of the entries of the idempotency id, one per charge; undefined without an id. */
  readonly doneNames: readonly string[] | undefined
  readonly charges: readonly RowCharge[]
}

/** Start of the names of counts. */
const COUNT = 'c:'
/** Start of the names of idempotency ids. */
const DONE = 'd:'

/** Returns the name of the entry of a count. */
export function countNameOf(name: string): string {
  return COUNT + name
}

/**
 * Returns the names of the entries of an idempotency id, from the names of the counts that a request adjusts. A repeated
 * count has an entry for each of its charges, because a request may adjust a count several times.
 */
export function doneNamesOf(counts: readonly string[], id: string): string[] {
  return repetitions(counts).map((before, index) => `${DONE}${before === 0 ? id : `${id}:${before}`} ${counts[index]}`)
}
