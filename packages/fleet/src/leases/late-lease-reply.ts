import { LateError } from '@sluice/limiter-core/backend'

/**
 * Returns the error of a lease reply that arrived after its request had stopped waiting, so that nothing was spent.
 * `mayHaveCounted`: whether the ledger may have counted prior usage that the request reported. Default: false.
 */
export function lateLeaseReply(mayHaveCounted = false): LateError {
  return new LateError('the lease ledger replied after the deadline', mayHaveCounted)
}
