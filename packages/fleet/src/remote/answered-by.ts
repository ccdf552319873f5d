import { type Clock, KEEP_ALIVE } from '@sluice/limiter-core/backend'
import { isUrgent, type TimedRequest } from './timed-request.ts'

/** Time in ms after which a call is given up if no caller waits for its requests. */
const CALL_MS = 4_000

/** Returns the process time at which a call with these requests, which is sent at `now`, is given up. */
export function givenUpAt(requests: readonly Pick<TimedRequest, 'operation' | 'deadlineAt'>[], now: number): number {
  return Math.max(...requests.map((one) => (isUrgent(one) ? (one.deadlineAt as number) : now + CALL_MS)))
}

/** Returns the result of `work`; rejects with `late()` at the process time `at`. The timer keeps the process alive. */
export function answeredBy<T>(work: Promise<T>, at: number, clock: Clock, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(at - clock.now(), () => reject(late()), KEEP_ALIVE)
    // a user-provided clock may return nothing
    work.finally(() => cancel?.()).then(resolve, reject)
  })
}
