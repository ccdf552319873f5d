import { type Clock, KEEP_ALIVE } from '@sluice/limiter-core/backend'

/** Returns the result of `work`; rejects with `late()` at the process time `at`. The timer keeps the process alive. */
export function answeredBy<T>(work: Promise<T>, at: number, clock: Clock, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(at - clock.now(), () => reject(late()), KEEP_ALIVE)
    // a user-provided clock may return nothing
    work.finally(() => cancel?.()).then(resolve, reject)
  })
}
