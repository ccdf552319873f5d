import { isPromise } from '../contracts/maybe-promise.ts'
import type { MaybePromise } from '../contracts.ts'

const running = new Set<PromiseLike<unknown>>()

/** Ignores a failure of a call that no request waits for; failover reports failures of backends. */
export function unawaited(call: MaybePromise<unknown>): void {
  if (!isPromise(call)) return
  const done = (): unknown => running.delete(call)
  running.add(call)
  call.then(done, done)
}

/** Resolves when the calls about bans that no request waits for, of all limiters of the process, have ended. */
export async function banCallsEnded(): Promise<void> {
  await Promise.allSettled(running)
}
