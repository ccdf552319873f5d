import type { Clock } from '../contracts.ts'
import type { HeldPermit } from './permit.ts'

/** Revokes permits that are held longer than `maxHoldMs`. One timer is enough: the oldest permit expires first. */
export class MaxHoldTimer {
  readonly #clock: Clock
  readonly #maxHoldMs: number
  // in the order of acquisition
  readonly #permits = new Set<HeldPermit>()
  #cancelSweep: (() => void) | undefined

  constructor(clock: Clock, maxHoldMs: number) {
    this.#clock = clock
    this.#maxHoldMs = maxHoldMs
  }

  add(permit: HeldPermit): void {
    this.#permits.add(permit)
    if (!this.#cancelSweep) this.#sweepAfter(this.#maxHoldMs)
  }

  delete(permit: HeldPermit): void {
    this.#permits.delete(permit)
  }

  /** Stops the timer. Permits that are still held are not revoked. */
  close(): void {
    this.#cancelSweep?.()
    this.#cancelSweep = undefined
  }

  #sweepAfter(ms: number): void {
    // a sweep that revokes permits can start a timer for those that take their places
    this.#cancelSweep?.()
    this.#cancelSweep = this.#clock.after(ms, () => this.#sweep())
  }

  #sweep(): void {
    this.#cancelSweep = undefined
    const now = this.#clock.now()
    for (const permit of this.#permits) {
      const leftMs = permit.acquiredAt + this.#maxHoldMs - now
      if (leftMs > 0) {
        this.#sweepAfter(leftMs)
        return
      }
      permit.lose()
    }
  }
}

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
