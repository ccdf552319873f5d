import { type Clock, KEEP_ALIVE } from '@sluice/limiter-core/backend'

/**
 * Resolves when `work` has settled, or after `ms` milliseconds; never rejects. The timer keeps the process alive, and
 * is cancelled when `work` settles.
 */
export function settledWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve, KEEP_ALIVE)
    const done = (): void => {
      // a custom clock may return nothing
      cancel?.()
      resolve()
    }
    work.then(done, done)
  })
}
