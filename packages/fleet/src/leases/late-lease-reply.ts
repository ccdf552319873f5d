import { LateError } from '@sluice/limiter-core/backend'

/** Returns the error of a lease reply that arrived after its request had stopped waiting, so that nothing was spent. */
export function lateLeaseReply(): LateError {
  return new LateError('the lease ledger replied after the deadline', false)
}
