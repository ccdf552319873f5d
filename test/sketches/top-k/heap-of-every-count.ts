/**
 * A wrong implementation for comparison: a tracker of the k most frequent keys whose heap gets a new entry whenever a
 * shown key is added again. Its counts are exact; only the heap is wrong.
 */
export class HeapOfEveryCount {
  readonly #k: number
  readonly #counts = new Map<string, number>()
  /** Sorted by count, then by key, the smallest first. */
  readonly #entries: { readonly count: number; readonly key: string }[] = []
  /** Keys that it considers to be in the heap. */
  readonly shown = new Set<string>()

  constructor(k: number) {
    this.#k = k
  }

  get entries(): number {
    return this.#entries.length
  }

  add(key: string): void {
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    if (this.shown.has(key) || this.#entries.length < this.#k) this.#push(count, key)
    else if (count > this.#entries[0].count) {
      const [expelled] = this.#entries.splice(0, 1)
      // other entries of the key may remain
      this.shown.delete(expelled.key)
      this.#push(count, key)
    }
  }

  /** Returns the keys of its `k` largest entries. */
  top(): string[] {
    return this.#entries
      .slice(-this.#k)
      .reverse()
      .map(({ key }) => key)
  }

  #push(count: number, key: string): void {
    this.shown.add(key)
    const at = this.#entries.findIndex((one) => one.count > count || (one.count === count && one.key > key))
    this.#entries.splice(at < 0 ? this.#entries.length : at, 0, { count, key })
  }
}
