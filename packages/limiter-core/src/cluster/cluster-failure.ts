/** Why the primary gave no answer: `CONNECTION` where it is gone, `LATE` after the deadline, `ERR` where it threw. */
export class ClusterFailure extends Error {
  readonly code: 'CONNECTION' | 'LATE' | 'ERR'

  constructor(code: 'CONNECTION' | 'LATE' | 'ERR', message: string) {
    super(message)
    this.name = 'ClusterFailure'
    this.code = code
  }
}
