/** Maximum number of keys per call. A key takes Redis about 10 microseconds, and more if many processes hold it. */
const MAX_KEYS = 32

/** Keys that wait for a call, grouped by hash slot. */
export class WaitingBySlot<K extends { readonly name: string }> {
  readonly #hashSlotOf: (name: string) => number
  readonly #slots = new Map<number, Set<K>>()

  constructor(hashSlotOf: (name: string) => number) {
    this.#hashSlotOf = hashSlotOf
  }

  get any(): boolean {
    return this.#slots.size > 0
  }

  add(key: K): void {
    const slot = this.#hashSlotOf(key.name)
    const waiting = this.#slots.get(slot) ?? new Set<K>()
    this.#slots.set(slot, waiting.add(key))
  }

  /** Removes and returns the keys for the next call; an empty array if no key waits. */
  take(): readonly K[] {
    const taken: K[] = []
    for (const [slot, waiting] of this.#slots) {
      for (const key of waiting) {
        if (taken.push(key) === MAX_KEYS) break
      }
      for (const key of taken) waiting.delete(key)
      if (waiting.size === 0) this.#slots.delete(slot)
      break
    }
    return taken
  }
}
