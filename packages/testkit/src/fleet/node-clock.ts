import type { Clock } from '@sluice/limiter-core'
import type { FakeClock } from '../fake-clock.ts'

/** The clock of one process of a fleet: it may run fast or slow, and the process may be stopped. */
export class NodeClock implements Clock {
  readonly #clock: FakeClock
  readonly #rate: number
  readonly #startedAt: number
  readonly #due: (() => void)[] = []
  #timers = 0
  #isStopped = false

  /** Counts `rate` ms for each of `clock`. */
  constructor(clock: FakeClock, rate = 1) {
    this.#clock = clock
    this.#rate = rate
    this.#startedAt = clock.now()
  }

  now(): number {
    return this.#rate === 1 ? this.#clock.now() : this.#startedAt + (this.#clock.now() - this.#startedAt) * this.#rate
  }

  wall(): number {
    return this.#clock.wall()
  }

  after(ms: number, run: () => void): () => void {
    let isPending = true
    const end = (): boolean => {
      const was = isPending
      isPending = false
      if (was) this.#timers--
      return was
    }
    this.#timers++
    const cancel = this.#clock.after(Math.max(0, ms) / this.#rate, () => {
      this.deliver(() => {
        if (end()) run()
      })
    })
    return () => {
      if (end()) cancel()
    }
  }

  /** Timers that the process has set and that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Runs what comes to the process: now, or when it goes on. */
  deliver(run: () => void): void {
    if (this.#isStopped) this.#due.push(run)
    else run()
  }

  /** Nothing of the process runs from now on. */
  stop(): void {
    this.#isStopped = true
  }

  /** It goes on, with all that became due meanwhile. */
  resume(): void {
    this.#isStopped = false
    for (const run of this.#due.splice(0)) this.deliver(run)
  }
}
