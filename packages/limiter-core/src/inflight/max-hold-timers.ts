import type { Clock } from '../contracts.ts'
import { MaxHoldTimer } from './max-hold-timer.ts'

/** The timers of all caps on one backend, one for each different `maxHoldMs`. */
export class MaxHoldTimers {
  readonly #clock: Clock
  readonly #timers = new Map<number, MaxHoldTimer>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the timer for a `maxHoldMs`; undefined if permits are never revoked. */
  of(maxHoldMs: number | undefined): MaxHoldTimer | undefined {
    if (maxHoldMs === undefined) return undefined
    const timer = this.#timers.get(maxHoldMs) ?? new MaxHoldTimer(this.#clock, maxHoldMs)
    this.#timers.set(maxHoldMs, timer)
    return timer
  }

  /** Stops all timers. Permits that are still held are not revoked. */
  close(): void {
    for (const timer of this.#timers.values()) timer.close()
  }
}
