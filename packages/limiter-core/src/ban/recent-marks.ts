import { rememberedKey } from './remembered-key.ts'

const MOST_KEYS = 10_000

/** Keys with the time at which each was marked, in bounded memory. The key that was marked first is forgotten first. */
export class RecentMarks {
  readonly #times = new Map<string, number>()

  /** Marks a key unless it is marked, and returns the time of its mark. */
  mark(key: string, now: number): number {
    const id = rememberedKey(key)
    const known = this.#times.get(id)
    if (known !== undefined) return known
    if (this.#times.size >= MOST_KEYS) {
      const [oldest] = this.#times.keys()
      this.#times.delete(oldest)
    }
    this.#times.set(id, now)
    return now
  }

  /** Marks a key unless it is marked, and returns the age of its mark in milliseconds. An age above `mostMs` ends a mark. */
  ageOf(key: string, now: number, mostMs: number): number {
    const ageMs = now - this.mark(key, now)
    if (ageMs <= mostMs) return ageMs
    this.#times.set(rememberedKey(key), now)
    return 0
  }

  has(key: string): boolean {
    return this.#times.has(rememberedKey(key))
  }

  delete(key: string): void {
    this.#times.delete(rememberedKey(key))
  }
}
