import type { Clock } from '@sluice/limiter-core'
import { TimerHeap } from './timer-heap.ts'

export interface FakeClockOptions {
  /** First reading of `now`, in ms; default: 0. */
  readonly nowMs?: number | undefined
  /** First reading of `wall`, in epoch ms; default: 2026-01-01T00:00:00Z. */
  readonly wallMs?: number | undefined
}

/** A clock that moves only when the test moves it. Pass it as the option `clock`. */
export class FakeClock implements Clock {
  #nowMs: number
  // how far the wall clock is ahead: a sum of every way would not be exact where timers fall due at fractions
  #aheadMs: number
  readonly #timers = new TimerHeap()

  constructor({ nowMs = 0, wallMs = Date.UTC(2026, 0, 1) }: FakeClockOptions = {}) {
    this.#nowMs = nowMs
    this.#aheadMs = wallMs - nowMs
  }

  /** Monotonic ms; may have a fraction if it was moved by one. */
  now(): number {
    return this.#nowMs
  }

  /** Epoch ms; moves along with `now`, and by `stepWall` alone. */
  wall(): number {
    return this.#nowMs + this.#aheadMs
  }

  /**
   * Runs `run` once when the clock has moved by `ms`; with 0 or less, at the next `advance`, even of 0 ms. Never
   * keeps the process alive.
   */
  after(ms: number, run: () => void): () => void {
    const timer = this.#timers.add(this.#nowMs + Math.max(0, ms), run)
    return () => this.#timers.cancel(timer)
  }

  /** Number of timers that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers.size
  }

  /**
   * Moves both readings by `ms`, 0 or more. Due timers run in the order of their times, with the clock set to each
   * time; timers that they set run too if they become due. Promises settle after it returns.
   */
  advance(ms: number): void {
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY))
      throw new RangeError(`advance: expected 0 or more ms, received ${ms}`)
    const untilMs = this.#nowMs + ms
    for (let timer = this.#timers.takeUntil(untilMs); timer; timer = this.#timers.takeUntil(untilMs)) {
      this.#nowMs = timer.dueMs
      timer.run()
    }
    this.#nowMs = untilMs
  }

  /** Steps the wall clock alone, forth or back, as an administrator or NTP would. Runs no timer. */
  stepWall(ms: number): void {
    this.#aheadMs += ms
  }
}
