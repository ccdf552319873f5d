import type { Clock } from '@sluice/limiter-core'

/** A clock that shows the time of the request that is replayed. Never goes back, and runs no timers. */
export class LogClock implements Clock {
  #nowMs = 0

  /** Moves to a time, unless it has passed. */
  advanceTo(timeMs: number): void {
    if (timeMs > this.#nowMs) this.#nowMs = timeMs
  }

  now(): number {
    return this.#nowMs
  }

  wall(): number {
    return this.#nowMs
  }

  after(): () => void {
    return () => {}
  }
}
