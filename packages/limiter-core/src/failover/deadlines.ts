import type { Clock } from '../contracts.ts'

interface Wait {
  readonly dueAt: number
  readonly late: () => void
}

/** Waits of equal length on promises that may never settle: one timer for all of them, since the oldest ends first. */
export class Deadlines {
  readonly #clock: Clock
  readonly #ms: number
  // in the order in which they end
  readonly #waits = new Set<Wait>()
  #cancel: (() => void) | undefined

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#ms = ms
  }

  /** Waits that have not ended. */
  get pending(): number {
    return this.#waits.size
  }

  /**
   * What becomes of `promise`: `came` or `failed` where it settles in time, `late` where it does not. Exactly one of
   * them is called, and what it answers is the answer.
   */
  race<T, R>(
    promise: Promise<T>,
    { came, failed, late }: { came: (value: T) => R; failed: (error: unknown) => R; late: () => R },
  ): Promise<R> {
    return new Promise((resolve, reject) => {
      const wait: Wait = { dueAt: this.#clock.now() + this.#ms, late: () => resolve(late()) }
      this.#waits.add(wait)
      this.#cancel ??= this.#clock.after(this.#ms, this.#sweep)
      promise
        .then(
          (value) => this.#waits.delete(wait) && resolve(came(value)),
          (error) => this.#waits.delete(wait) && resolve(failed(error)),
        )
        .catch(reject)
    })
  }

  /** Ends all waits as late, and the timer. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const wait of this.#waits) {
      this.#waits.delete(wait)
      wait.late()
    }
  }

  readonly #sweep = (): void => {
    this.#cancel = undefined
    for (const wait of this.#waits) {
      const leftMs = wait.dueAt - this.#clock.now()
      if (leftMs > 0) {
        this.#cancel = this.#clock.after(leftMs, this.#sweep)
        return
      }
      this.#waits.delete(wait)
      wait.late()
    }
  }
}
