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

  /** Number of timers that the process has set and that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Runs a delivery to the process: now, or when it resumes. */
  deliver(run: () => void): void {
    if (this.#isStopped) this.#due.push(run)
    else run()
  }

  /** Simulates a suspended process: stops all timers and pending work. */
  stop(): void {
    this.#isStopped = true
  }

  /** Resumes the process, including everything that became due in the meantime. */
  resume(): void {
    this.#isStopped = false
    for (const run of this.#due.splice(0)) this.deliver(run)
  }
}
