const MOST_KEYS = 10_000
const LONGEST_KEY = 128

/** Keys with the time at which each was marked, in bounded memory. The key that was marked first is forgotten first. */
export class RecentMarks {
  readonly #times = new Map<string, number>()

  /** Marks a key unless it is marked, and returns the time of its mark. */
  mark(key: string, now: number): number {
    const known = this.#times.get(key)
    if (known !== undefined) return known
    if (key.length > LONGEST_KEY) return now
    if (this.#times.size >= MOST_KEYS) {
      const [oldest] = this.#times.keys()
      this.#times.delete(oldest)
    }
    this.#times.set(key, now)
    return now
  }

  /** Marks a key unless it is marked, and returns the age of its mark in milliseconds. An age above `mostMs` ends a mark. */
  ageOf(key: string, now: number, mostMs: number): number {
    const ageMs = now - this.mark(key, now)
    if (ageMs <= mostMs) return ageMs
    this.#times.set(key, now)
    return 0
  }

  has(key: string): boolean {
    return this.#times.has(key)
  }

  delete(key: string): void {
    this.#times.delete(key)
  }
}
