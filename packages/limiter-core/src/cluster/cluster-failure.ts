/** Why the primary gave no answer: `CONNECTION` where it is gone, `LATE` after the deadline, `ERR` where it threw. */
export class ClusterFailure extends Error {
  readonly code: 'CONNECTION' | 'LATE' | 'ERR'
  /** True where the primary may have done what it was asked to. */
  readonly mayHaveCounted: boolean

  constructor(code: 'CONNECTION' | 'LATE' | 'ERR', message: string, mayHaveCounted = false) {
    super(message)
    this.name = 'ClusterFailure'
    this.code = code
    this.mayHaveCounted = mayHaveCounted
  }
}
