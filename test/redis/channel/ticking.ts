import type { FakeClock } from '@sluice/testkit'
import type { LossyRunner } from './lossy-runner.ts'

/** Objects that tick, and their interval. */
export interface Ticking {
  readonly clock: FakeClock
  readonly tickMs: number
  readonly runner: LossyRunner
}

/** Ticks until `holds` returns true, each time after all answers arrived. Rejects with `what` after 200 ticks. */
export async function ticking({ clock, tickMs, runner }: Ticking, holds: () => boolean, what: string): Promise<void> {
  for (let ticks = 0; ticks < 200; ticks++) {
    if (holds()) return
    clock.advance(tickMs)
    await runner.settled()
    await turn()
  }
  throw new Error(`${what} did not come about`)
}

/** Waits until received answers are processed. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
