import type { Clock } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

const AHEAD_MS = 3_600_000

/** A clock that is an hour ahead until it is set back. */
export class SteppedClock implements Clock {
  readonly #time = new FakeClock()
  #aheadMs = AHEAD_MS

  now(): number {
    return this.#time.now() + this.#aheadMs
  }

  wall(): number {
    return this.#time.wall()
  }

  after(ms: number, run: () => void): () => void {
    return this.#time.after(ms, run)
  }

  advance(ms: number): void {
    this.#time.advance(ms)
  }

  setBack(): void {
    this.#aheadMs = 0
  }
}
