import type { Clock } from '@sluice/limiter-core'
import type { FakeClock } from '@sluice/testkit'

/** The clock of a process that can be stalled: time passes, and its timers run when it resumes. */
export class ProcessClock implements Clock {
  readonly #time: FakeClock
  readonly #missed = new Set<() => void>()
  #stopped = false

  constructor(time: FakeClock) {
    this.#time = time
  }

  get stopped(): boolean {
    return this.#stopped
  }

  now(): number {
    return this.#time.now()
  }

  wall(): number {
    return this.#time.wall()
  }

  after(ms: number, run: () => void): () => void {
    const due = (): void => {
      if (this.#stopped) this.#missed.add(run)
      else run()
    }
    const cancel = this.#time.after(ms, due)
    return () => {
      cancel()
      this.#missed.delete(run)
    }
  }

  stop(): void {
    this.#stopped = true
  }

  wake(): void {
    this.#stopped = false
    for (const run of this.#missed) {
      this.#missed.delete(run)
      run()
    }
  }
}
