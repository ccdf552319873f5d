import type { Clock } from '@sluice/limiter-core'
import { afterThisTurn, isSystemClock } from '@sluice/limiter-core/http'

/** Milliseconds between two beats of an event loop without delay. */
const BEAT_MS = 5
/** Beats without a request after which the heart rests. */
const IDLE_BEATS = 20

export interface HeartbeatListener {
  /** Called at each beat: `lateMs` after it was due, and `elapsedMs` after the beat before. */
  beat(lateMs: number, elapsedMs: number, now: number): void
  /** Called when there have been no requests for a while, so that there are no beats until the next one. */
  rest(): void
}

/**
 * A short timer that shows how long callbacks wait for the event loop. A beat that is overdue shows the delay at once,
 * in the middle of the turn that causes it: a histogram that is sampled shows it when the turn is over. It beats only
 * while there are requests, and keeps no process alive.
 *
 * There is at most one beat in a turn. Node.js runs timers that become due while other timers run in the same turn, so a
 * timer alone would not show that requests wait for a turn full of timers.
 */
export class Heartbeat {
  readonly #clock: Clock
  readonly #listener: HeartbeatListener
  #cancel: (() => void) | undefined
  #lastAt = 0
  #dueAt = Number.POSITIVE_INFINITY
  #idleBeats = 0
  #isResting = true
  #isClosed = false

  constructor(clock: Clock, listener: HeartbeatListener) {
    this.#clock = clock
    this.#listener = listener
  }

  /** Records a request. Returns whether it ends a rest. */
  request(now: number): boolean {
    this.#idleBeats = 0
    if (!this.#isResting || this.#isClosed) return false
    this.#next(now)
    return true
  }

  /** Returns the milliseconds since the next beat was due; 0 or less if it is not due yet. */
  overdueMs(now: number): number {
    return now - this.#dueAt
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  #next(now: number): void {
    this.#lastAt = now
    this.#dueAt = now + BEAT_MS
    this.#isResting = false
    if (isSystemClock(this.#clock)) afterThisTurn(this.#arm)
    else this.#arm()
  }

  readonly #arm = (): void => {
    if (this.#isClosed || this.#isResting) return
    const leftMs = Math.max(0, this.#dueAt - this.#clock.now())
    this.#cancel = this.#clock.after(leftMs, this.#beat)
  }

  readonly #beat = (): void => {
    if (this.#isClosed) return
    const now = this.#clock.now()
    const [lateMs, elapsedMs] = [Math.max(0, now - this.#dueAt), now - this.#lastAt]
    this.#idleBeats++
    if (this.#idleBeats > IDLE_BEATS) {
      this.#stop()
      this.#listener.rest()
      return
    }
    this.#next(now)
    this.#listener.beat(lateMs, elapsedMs, now)
  }

  #stop(): void {
    this.#cancel?.()
    this.#isResting = true
    this.#dueAt = Number.POSITIVE_INFINITY
  }
}
