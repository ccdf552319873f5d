/** What one replica wrote under a key; a later item of the key stands in its place. */
export interface LogItem {
  /** Its number in the log, from 1, one more for each item. */
  readonly clock: number
  readonly key: string
  readonly value: unknown
  /** Of its key and value in a message. */
  readonly bytes: number
  /** When it was written, by the clock of whoever holds it: `now` less its age. */
  readonly bornAt: number
}

/** Of so many items and fewer stale ones are kept beside them. */
const FEW = 64

/** What one replica wrote, in the order of its clock. Only that replica adds to it; all others hold copies. */
export class ReplicaLog {
  readonly replica: string
  /** Of the last item that was ever in it. */
  clock = 0
  /** Items up to this one may have been dropped, though no other stands in their place. */
  floor = 0
  /** Since when it has no items, by the clock of whoever holds it; undefined while it has some. */
  emptySince: number | undefined
  readonly #items = new Map<string, LogItem>()
  /** By clock, stale ones among them. */
  #order: LogItem[] = []

  constructor(replica: string, now: number) {
    this.replica = replica
    this.emptySince = now
  }

  get size(): number {
    return this.#items.size
  }

  /** `item.clock` is above `clock`. */
  put(item: LogItem): void {
    this.#items.set(item.key, item)
    this.#order.push(item)
    this.clock = item.clock
    this.emptySince = undefined
    if (this.#order.length > 2 * this.#items.size + FEW) this.#order = this.#order.filter((one) => this.#isKept(one))
  }

  /** All items up to `clock` were sent, or are gone. */
  advanceTo(clock: number): void {
    this.clock = Math.max(this.clock, clock)
  }

  /** Items behind `clock`, in order. */
  *after(clock: number): Iterable<LogItem> {
    for (let at = this.#indexAfter(clock); at < this.#order.length; at++) {
      if (this.#isKept(this.#order[at])) yield this.#order[at]
    }
  }

  /** Drops items for which `isOld` holds. Whoever does not have them has missed them from then on. */
  drop(isOld: (item: LogItem) => boolean, now: number): void {
    for (const item of this.#items.values()) {
      if (!isOld(item)) continue
      this.#items.delete(item.key)
      this.floor = Math.max(this.floor, item.clock)
    }
    this.#order = this.#order.filter((one) => this.#isKept(one))
    if (this.#items.size === 0) this.emptySince ??= now
  }

  /** Drops the item of a key, without a word: all others do the same by its age. */
  remove(key: string): void {
    this.#items.delete(key)
  }

  /** Those that stand, in no order. */
  get items(): Iterable<LogItem> {
    return this.#items.values()
  }

  itemOf(key: string): LogItem | undefined {
    return this.#items.get(key)
  }

  #isKept(item: LogItem): boolean {
    return this.#items.get(item.key) === item
  }

  /** Index of the first item behind `clock`. */
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
