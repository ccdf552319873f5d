import {
  bytesOfFloats,
  type Change,
  Decisions,
  floatsOfBytes,
  knownOf,
  LimitEntry,
  type Row,
  type RowRequest,
  type RowVersion,
  reportedUsage,
} from '@sluice/fleet/backend'
import type { StoreRequest } from './store-request.ts'

/** Converts a time of the process to the time of the store. */
export type ToStoreTime = (processAt: number) => number

/** The answers to requests, and the rows to write before they are valid. */
export interface DecidedRequests {
  /** Numbers of the answer to each request; null if the row of a key is unusable. */
  readonly numbers: readonly ((number | null)[] | null)[]
  readonly changes: readonly Change[]
  /** Time in ms for which the changed rows are needed. */
  readonly ttlMs: number
  /** Time of the decisions. */
  readonly now: number
}

/** Name of the row in the store. */
type StoredKey = (row: string) => string

/** Decides requests on the rows that were read for them. */
export function decideOnRows(
  requests: readonly StoreRequest[],
  rows: ReadonlyMap<string, Row | undefined>,
  { now, toStoreTime, storedKey }: { now: number; toStoreTime: ToStoreTime; storedKey: StoredKey },
): DecidedRequests {
  const entries = new Map<string, LimitEntry>()
  const entryOf = (name: string): LimitEntry => {
    let entry = entries.get(name)
    if (!entry) {
      const row = rows.get(name)
      // null: a row whose bytes have another format
      entry = new LimitEntry(row && (floatsOfBytes(row.cells) ?? null))
      entries.set(name, entry)
    }
    return entry
  }
  const decisions = new Decisions(entryOf, { now, clock: now, lostBefore: 0 })
  const numbers = requests.map((request) => decisions.decide(rowRequestOf(request, toStoreTime)))
  let keptUntil = now
  const changes: Change[] = []
  for (const [name, value] of decisions.writes) {
    const version: RowVersion | undefined = rows.get(name)?.version
    keptUntil = Math.max(keptUntil, value[0])
    changes.push({ key: storedKey(name), cells: bytesOfFloats(value), version })
  }
  return { numbers, changes, ttlMs: Math.max(1, Math.ceil(keptUntil - now)), now }
}

function rowRequestOf(request: StoreRequest, toStoreTime: ToStoreTime): RowRequest {
  const { operation, takenAt, doneNames, names, charges, requestedAt } = request
  return {
    operation,
    takenAt,
    doneNames,
    charges: charges.map((charge, index) => {
      const { counter, cost, advisory } = charge
      const known = knownOf(request, charge)
      return {
        name: names[index],
        compiled: counter.compiled,
        cost,
        advisory: advisory === true,
        known: known && reportedUsage(known, (ageMs) => toStoreTime(requestedAt - ageMs)),
      }
    }),
  }
}
