/** Value that a replica wrote under a key. A later item with the same key replaces it. */
export interface LogItem {
  /** Number of the item in the log, from 1, increasing by 1. */
  readonly clock: number
  readonly key: string
  readonly value: unknown
  /** Bytes of the key and value in a message. */
  readonly bytes: number
  /** Process time at which it was written: the time at which it arrived, minus its age. */
  readonly bornAt: number
}

/**
 * Number of stale items that are kept in addition to one for each current item, so that a small log is rarely
 * compacted.
 */
const FEW = 64

/** Items of one replica in the order of their clocks. Only that replica appends to it; all others hold copies. */
export class ReplicaLog {
  readonly replica: string
  /** Clock of the last item that was ever in the log. */
  clock = 0
  /** Items up to this clock may have been dropped without a later item in their place. */
  droppedTo = 0
  /** Process time since which the log has been empty; undefined if it has items. */
  emptySince: number | undefined
  readonly #items = new Map<string, LogItem>()
  /** Items by clock, including stale ones. */
  #order: LogItem[] = []

  constructor(replica: string, now: number) {
    this.replica = replica
    this.emptySince = now
  }

  get size(): number {
    return this.#items.size
  }

  /** Appends an item. Its clock must be above `clock`. */
  put(item: LogItem): void {
    this.#items.set(item.key, item)
    this.#order.push(item)
    this.clock = item.clock
    this.emptySince = undefined
    if (this.#order.length > 2 * this.#items.size + FEW) this.#order = this.#order.filter((one) => this.#isKept(one))
  }

  /** Records that all items up to `clock` were received or are gone. */
  advanceTo(clock: number): void {
    this.clock = Math.max(this.clock, clock)
  }

  /** Yields the items after `clock`, in order. */
  *after(clock: number): Iterable<LogItem> {
    for (let at = this.#indexAfter(clock); at < this.#order.length; at++) {
      if (this.#isKept(this.#order[at])) yield this.#order[at]
    }
  }

  /** Drops items for which `isOld` returns true. A replica that does not have them yet has missed them from then on. */
  drop(isOld: (item: LogItem) => boolean, now: number): void {
    for (const item of this.#items.values()) {
      if (!isOld(item)) continue
      this.#items.delete(item.key)
      this.droppedTo = Math.max(this.droppedTo, item.clock)
    }
    this.#order = this.#order.filter((one) => this.#isKept(one))
    if (this.#items.size === 0) this.emptySince ??= now
  }

  /** Removes the item of a key without recording a drop: the other replicas remove it by its age, too. */
  remove(key: string): void {
    this.#items.delete(key)
  }

  /** Current items, in no particular order. */
  get items(): Iterable<LogItem> {
    return this.#items.values()
  }

  #isKept(item: LogItem): boolean {
    return this.#items.get(item.key) === item
  }

  /** Returns the index of the first item after `clock`. */
  #indexAfter(clock: number): number {
    let [low, high] = [0, this.#order.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#order[middle].clock <= clock) low = middle + 1
      else high = middle
    }
    return low
  }
}
