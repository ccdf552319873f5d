import { afterThisTurn } from './clock.ts'

/**
 * Items that are sent together: everything that is added until the batch is sent, which happens once however often it
 * was scheduled.
 */
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

  /** `when` schedules the given function; it is not called if the batch is already scheduled. */
  add(item: T, when?: (send: () => void) => void): void {
    this.#items.push(item)
    if (!this.#isScheduled) this.schedule(when)
  }

  schedule(when: (send: () => void) => void = afterThisTurn): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    when(this.flush)
  }

  /** Sends now. A scheduled flush stays scheduled and sends what has been added by then. */
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
