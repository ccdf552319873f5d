import type { Clock } from '../contracts.ts'

/** Calls `run` each `tickMs`, from a random moment on, so that a fleet does not ask all at once. Returns what stops it. */
export function everyTick(clock: Clock, tickMs: number, run: () => void): () => void {
  let cancel = clock.after(Math.random() * tickMs, next)
  function next(): void {
    cancel = clock.after(tickMs, next)
    run()
  }
  return () => cancel()
}
