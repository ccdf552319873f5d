import type { Clock } from '../contracts.ts'

/**
 * Calls `run` every `tickMs` milliseconds. The first call is delayed by a random part of `tickMs`, so that processes do
 * not all call a server at the same time. Returns a function that stops the calls.
 */
export function repeatEvery(clock: Clock, tickMs: number, run: () => void): () => void {
  let cancel = clock.after(Math.random() * tickMs, next)
  function next(): void {
    cancel = clock.after(tickMs, next)
    run()
  }
  return () => cancel()
}
