import type { Clock } from '@sluice/limiter-core'
import type { FakeClock } from '@sluice/testkit'

/** The clock of one process: its wall clock can be set, its monotonic clock is shared. Counts its timers. */
export class SteppedClock implements Clock {
  /** Timers that were set so far. */
  timers = 0
  readonly #shared: FakeClock
  #aheadMs = 0

  constructor(shared: FakeClock) {
    this.#shared = shared
  }

  now(): number {
    return this.#shared.now()
  }

  wall(): number {
    return this.#shared.wall() + this.#aheadMs
  }

  after(ms: number, run: () => void): () => void {
    this.timers++
    if (!Number.isFinite(ms)) throw new RangeError(`after: expected a number of ms, received ${ms}`)
    return this.#shared.after(ms, run)
  }

  step(ms: number): void {
    this.#aheadMs += ms
  }
}
