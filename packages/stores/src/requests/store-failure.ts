import { messageOfAny, RemoteFailure, type RemoteFailureOptions } from '@sluice/fleet/backend'

/**
 * A failed call to a store. `code` is one of:
 *
 * - `STORE`: the store threw or rejected; `cause` is its error;
 * - `LATE`: the deadline had passed, or the store did not answer in time;
 * - `CONFLICT`: other processes changed the rows of the key until the deadline;
 * - `REPLY`: the answer of the store, or the row of a key, has an unexpected format;
 * - `ROWS`: the request needs more rows than the store writes at once.
 */
export class StoreFailure extends RemoteFailure {
  declare readonly code: 'STORE' | 'LATE' | 'CONFLICT' | 'REPLY' | 'ROWS'

  constructor(code: StoreFailure['code'], message: string, options?: RemoteFailureOptions) {
    super(code, message, options)
    this.name = 'StoreFailure'
  }
}

/** Converts the rejection value of a store into a `StoreFailure`. */
export function failureOf(error: unknown, mayHaveCounted: boolean): StoreFailure {
  if (error instanceof StoreFailure) return error
  const message = messageOfAny(error) ?? 'the store failed with a value that is not an error'
  return new StoreFailure('STORE', message, { mayHaveCounted, cause: error })
}

/** Creates the failure of a request that was not sent, because its deadline had passed. */
export function lateFailure(): StoreFailure {
  return new StoreFailure('LATE', 'the deadline passed before the store was called, so that nothing was counted')
}

/** Creates the failure of a call without an answer. */
export function unansweredFailure(mayHaveCounted: boolean): StoreFailure {
  return new StoreFailure('LATE', 'the store did not answer in time', { mayHaveCounted })
}

/** Creates the failure of a request whose rows other processes changed at each attempt. */
export function conflictFailure(attempts: number): StoreFailure {
  const message = `other processes changed the rows of the key at each of ${attempts} attempts`
  return new StoreFailure('CONFLICT', message, { keyOnly: true })
}

/** Creates the failure of a request for a row that this release of Sluice has not written. */
export function invalidRow(): StoreFailure {
  return new StoreFailure('REPLY', 'the row of the key does not have the cells of its policy', { keyOnly: true })
}

/** Creates the failure of an answer of the store in another format. `expected` completes the message. */
export function invalidAnswer(method: string, expected: string, mayHaveCounted: boolean): StoreFailure {
  return new StoreFailure('REPLY', `the store's ${method} must resolve to ${expected}`, { mayHaveCounted })
}

/** Creates the failure of a request that needs too many rows. */
export function tooManyRows(rows: number, maxRows: number): StoreFailure {
  const message = `the request needs ${rows} rows, and the store writes at most ${maxRows} at once`
  return new StoreFailure('ROWS', message, { keyOnly: true })
}
