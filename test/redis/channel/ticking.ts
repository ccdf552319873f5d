import type { FakeClock } from '@sluice/testkit'
import type { LossyRunner } from './lossy-runner.ts'

/** What ticks, and how often. */
export interface Ticking {
  readonly clock: FakeClock
  readonly tickMs: number
  readonly runner: LossyRunner
}

/** Ticks until `holds`, each time when all answers have come. Rejects with `what` where it does not within 200 ticks. */
export async function ticking({ clock, tickMs, runner }: Ticking, holds: () => boolean, what: string): Promise<void> {
  for (let ticks = 0; ticks < 200; ticks++) {
    if (holds()) return
    clock.advance(tickMs)
    await runner.settled()
    await turn()
  }
  throw new Error(`${what} did not come about`)
}

/** Answers that have come are read. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
