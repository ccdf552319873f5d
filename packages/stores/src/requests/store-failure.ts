export interface StoreFailureOptions {
  readonly keyOnly?: boolean
  readonly mayHaveCounted?: boolean
  readonly cause?: unknown
}

/**
 * A failed call to a store. `code` is one of:
 *
 * - `STORE`: the store threw or rejected; `cause` is its error;
 * - `LATE`: the deadline had passed, or the store did not answer in time;
 * - `CONFLICT`: other processes changed the rows of the key until the deadline;
 * - `REPLY`: the answer of the store, or the row of a key, has an unexpected format;
 * - `ROWS`: the request needs more rows than the store writes at once.
 */
export class StoreFailure extends Error {
  readonly code: 'STORE' | 'LATE' | 'CONFLICT' | 'REPLY' | 'ROWS'
  /** Whether the failure concerns only one key. Calls for other keys may succeed. */
  readonly keyOnly: boolean
  /** Whether the store may have counted the call, so that only its answer is missing. */
  readonly mayHaveCounted: boolean

  constructor(
    code: StoreFailure['code'],
    message: string,
    { keyOnly = false, mayHaveCounted = false, cause }: StoreFailureOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StoreFailure'
    this.code = code
    this.keyOnly = keyOnly
    this.mayHaveCounted = mayHaveCounted
  }
}

/** Converts the rejection value of a store into a `StoreFailure`. */
export function failureOf(error: unknown, mayHaveCounted: boolean): StoreFailure {
  if (error instanceof StoreFailure) return error
  return new StoreFailure('STORE', textOf(error), { mayHaveCounted, cause: error })
}

function textOf(error: unknown): string {
  try {
    const { message } = error as { readonly message?: unknown }
    if (typeof message === 'string' && message !== '') return message
  } catch {
    // any value can be thrown, for example undefined or an object whose getters throw
  }
  return 'the store failed with a value that is not an error'
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
