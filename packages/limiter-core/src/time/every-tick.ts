import type { Clock } from '../contracts.ts'

/**
 * Calls `run` every `tickMs`, starting at a random time, so that processes do not call at the same moment. Returns a
 * function that stops it.
 */
export function everyTick(clock: Clock, tickMs: number, run: () => void): () => void {
  let cancel = clock.after(Math.random() * tickMs, next)
  function next(): void {
    cancel = clock.after(tickMs, next)
    run()
  }
  return () => cancel()
}
