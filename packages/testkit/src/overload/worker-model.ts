import type { Clock } from '@sluice/limiter-core'

/** A server with a fixed number of workers and an endless queue in front of them, on the time of a clock. */
export class WorkerModel {
  readonly #workers: number
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #busy = 0

  constructor(workers: number, clock: Clock) {
    this.#workers = workers
    this.#clock = clock
  }

  /** Works for `serviceMs` when a worker is free, then calls `done`. */
  serve(serviceMs: number, done: () => void): void {
    const start = (): void => {
      this.#busy++
      this.#clock.after(serviceMs, () => {
        this.#busy--
        this.#waiting.shift()?.()
        done()
      })
    }
    if (this.#busy < this.#workers) start()
    else this.#waiting.push(start)
  }
}
