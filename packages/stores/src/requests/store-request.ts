import { countNameOf, doneNamesOf, type RemoteRequest } from '@sluice/fleet/backend'

/** A request with the rows that it needs. */
export interface StoreRequest extends RemoteRequest {
  /** Names of the rows of the idempotency id, one per charge; undefined without an id. */
  readonly doneNames: readonly string[] | undefined
  /** All rows of the request, without repetitions. */
  readonly rows: readonly string[]
  /** Position among the requests of the backend. */
  readonly position: number
  /** Number of writes that the store refused because a version had changed. */
  conflicts: number
}

/** Returns a request of a backend with its rows. */
export function storeRequest(request: RemoteRequest, position: number): StoreRequest {
  const names = request.names.map(countNameOf)
  const doneNames = request.id === '' ? undefined : doneNamesOf(names, request.id)
  return { ...request, names, doneNames, rows: [...new Set([...names, ...(doneNames ?? [])])], position, conflicts: 0 }
}
