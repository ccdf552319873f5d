import { isPromise } from '../contracts/maybe-promise.ts'
import type { MaybePromise } from '../contracts.ts'

/** Ignores a failure of a call that no request waits for; failover reports failures of backends. */
export function unawaited(call: MaybePromise<unknown>): void {
  if (isPromise(call)) call.then(undefined, () => {})
}
