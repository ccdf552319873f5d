/** Values by key for a bounded number of keys. The key that was used the longest time ago is forgotten first. */
export class RecentMap<T> {
  readonly #maxKeys: number
  readonly #forgotten: ((value: T) => void) | undefined
  // in the order of their last use
  readonly #values = new Map<string, T>()

  /** `maxKeys` is at least 1. `forgotten` is called with each value that is removed. */
  constructor(maxKeys: number, forgotten?: (value: T) => void) {
    this.#maxKeys = maxKeys
    this.#forgotten = forgotten
  }

  /** Returns the value of a key; undefined if it is not known. Reading does not count as a use. */
  peek(key: string): T | undefined {
    return this.#values.get(key)
  }

  /** Returns the value of a key, created if it is not known. */
  use(key: string, create: () => T): T {
    const known = this.#values.get(key)
    // the order of one key needs no change
    if (known !== undefined && this.#values.size === 1) return known
    const value = known ?? create()
    if (known !== undefined) this.#values.delete(key)
    else if (this.#values.size >= this.#maxKeys) this.#forgetOldest()
    this.#values.set(key, value)
    return value
  }

  [Symbol.iterator](): IterableIterator<[key: string, value: T]> {
    return this.#values.entries()
  }

  #forgetOldest(): void {
    for (const [key, value] of this.#values) {
      this.#values.delete(key)
      this.#forgotten?.(value)
      return
    }
  }
}
