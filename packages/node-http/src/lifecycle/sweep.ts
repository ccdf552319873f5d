import { systemClock } from '@sluice/limiter-core/http'

/** Periodically checks items for conditions that no event reports. All items share one timer. */
export class Sweep<T> {
  readonly #everyMs: number
  readonly #isDone: (item: T) => boolean
  readonly #items = new Set<T>()
  #isWaiting = false

  /** `isDone` is called for each item every `everyMs` milliseconds. An item is removed when it returns true. */
  constructor(everyMs: number, isDone: (item: T) => boolean) {
    this.#everyMs = everyMs
    this.#isDone = isDone
  }

  add(item: T): void {
    this.#items.add(item)
    if (!this.#isWaiting) this.#wait()
  }

  delete(item: T): void {
    this.#items.delete(item)
  }

  #wait(): void {
    this.#isWaiting = true
    systemClock.after(this.#everyMs, () => this.#check())
  }

  #check(): void {
    for (const item of this.#items) if (this.#isDone(item)) this.#items.delete(item)
    this.#isWaiting = false
    if (this.#items.size > 0) this.#wait()
  }
}
