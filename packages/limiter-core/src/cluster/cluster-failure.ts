/** Thrown if the primary did not reply: `CONNECTION` if it has exited, `LATE` after the deadline, `ERR` if it threw. */
export class ClusterFailure extends Error {
  readonly code: 'CONNECTION' | 'LATE' | 'ERR'
  /** Whether the primary may have applied the call. */
  readonly mayHaveCounted: boolean

  constructor(code: 'CONNECTION' | 'LATE' | 'ERR', message: string, mayHaveCounted = false) {
    super(message)
    this.name = 'ClusterFailure'
    this.code = code
    this.mayHaveCounted = mayHaveCounted
  }
}
