import { systemClock } from '@sluice/limiter-core/http'

/** Looks at items again and again, for what no event tells. One timer for all of them, and none where there are none. */
export class Sweep<T> {
  readonly #everyMs: number
  readonly #isDone: (item: T) => boolean
  readonly #items = new Set<T>()
  #isWaiting = false

  /** `isDone` is asked of each item every `everyMs`, and says whether it need not be looked at any more. */
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
    systemClock.after(this.#everyMs, () => this.#look())
  }

  #look(): void {
    for (const item of this.#items) if (this.#isDone(item)) this.#items.delete(item)
    this.#isWaiting = false
    if (this.#items.size > 0) this.#wait()
  }
}
