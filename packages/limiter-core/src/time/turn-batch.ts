import { afterThisTurn } from './clock.ts'

/** What is to be sent together: all that comes until it is sent, which is once however often it was scheduled. */
export class TurnBatch<T> {
  readonly #send: (batch: TurnBatch<T>) => void
  #items: T[] = []
  #isScheduled = false

  /** `send` takes the items, or leaves them for when it is called again. */
  constructor(send: (batch: TurnBatch<T>) => void) {
    this.#send = send
  }

  get size(): number {
    return this.#items.length
  }

  /** `when` runs what it is given when the batch is to be sent; it is not asked where that is scheduled already. */
  add(item: T, when?: (send: () => void) => void): void {
    this.#items.push(item)
    if (!this.#isScheduled) this.schedule(when)
  }

  schedule(when: (send: () => void) => void = afterThisTurn): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    when(this.flush)
  }

  /** Sends now. What was scheduled stays so, and sends what has come by then. */
  readonly flush = (): void => {
    this.#isScheduled = false
    this.#send(this)
  }

  /** Removes all items. */
  take(): readonly T[] {
    const items = this.#items
    this.#items = []
    return items
  }

  /** Removes the items of which `which` is true. */
  remove(which: (item: T) => boolean): readonly T[] {
    const removed = this.#items.filter(which)
    this.#items = this.#items.filter((item) => !which(item))
    return removed
  }
}
