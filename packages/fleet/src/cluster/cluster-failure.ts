/**
 * A failed call to the primary: `CONNECTION` if the primary has exited or the backend is closed, `LATE` if there was no
 * reply by the deadline, `ERR` if the call threw in the primary.
 */
export class ClusterFailure extends Error {
  readonly code: 'CONNECTION' | 'LATE' | 'ERR'
  /** Whether the primary may have applied the call anyway. */
  readonly mayHaveCounted: boolean

  constructor(code: 'CONNECTION' | 'LATE' | 'ERR', message: string, mayHaveCounted = false) {
    super(message)
    this.name = 'ClusterFailure'
    this.code = code
    this.mayHaveCounted = mayHaveCounted
  }
}
