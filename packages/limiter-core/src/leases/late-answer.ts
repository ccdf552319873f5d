/** An answer that came when its request was no longer waiting for it: nothing was spent. */
export class LateAnswer extends Error {
  readonly code = 'LATE'

  constructor() {
    super('the ledger of leases answered after the deadline')
    this.name = 'LateAnswer'
  }
}
