import { afterThisTurn } from '@sluice/limiter-core/backend'

/** Collects items that are sent together. Scheduling the batch several times sends it once. */
export class TurnBatch<T> {
  readonly #send: (batch: TurnBatch<T>) => void
  #items: T[] = []
  #isScheduled = false

  /** `send` receives the batch and may remove its items. Items that it leaves are kept for the next call. */
  constructor(send: (batch: TurnBatch<T>) => void) {
    this.#send = send
  }

  get size(): number {
    return this.#items.length
  }

  /** Adds an item and schedules the batch, see `schedule`. */
  add(item: T, when?: (send: () => void) => void): void {
    this.#items.push(item)
    if (!this.#isScheduled) this.schedule(when)
  }

  /**
   * Schedules the batch unless it is already scheduled. `when` receives the function to call later. Default: at the end
   * of this turn of the event loop.
   */
  schedule(when: (send: () => void) => void = afterThisTurn): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    when(this.flush)
  }

  /** Sends the batch now. If it was scheduled, it is sent again at that time with the items added since. */
  readonly flush = (): void => {
    this.#isScheduled = false
    this.#send(this)
  }

  /** Removes and returns all items. */
  take(): readonly T[] {
    const items = this.#items
    this.#items = []
    return items
  }

  /** Removes and returns the items for which `which` returns true. */
  remove(which: (item: T) => boolean): readonly T[] {
    const removed = this.#items.filter(which)
    this.#items = this.#items.filter((item) => !which(item))
    return removed
  }
}
