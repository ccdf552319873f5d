/** Number of least recently used keys from which one is evicted. */
const LOOKED_AT = 8

/** Keys in the order of their last use, at most `most` of them. */
export class BoundedKeys {
  readonly #most: number
  readonly #keys = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#keys.size
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  /**
   * Adds or refreshes a key, and returns the evicted key if there is one: of the least recently used keys, the one with
   * the fewest units.
   */
  use(key: string, unitsOf: (key: string) => number): string | undefined {
    this.#keys.delete(key)
    this.#keys.add(key)
    if (this.#keys.size <= this.#most) return undefined
    const old = [...this.#first(LOOKED_AT)].filter((one) => one !== key)
    const least = old.reduce((one, other) => (unitsOf(other) < unitsOf(one) ? other : one))
    this.#keys.delete(least)
    return least
  }

  delete(key: string): void {
    this.#keys.delete(key)
  }

  /** Yields the least recently used keys first. */
  *#first(count: number): Iterable<string> {
    let left = count
    for (const key of this.#keys) {
      if (left-- === 0) return
      yield key
    }
  }

  oldest(): string | undefined {
    return this.#keys.values().next().value
  }
}
