import type { KeyPermits } from './key-permits.ts'

/** Keys of one call: a key costs the server some 10 microseconds, and more the more processes hold it. */
const MOST_KEYS = 32

/** Keys that wait for a call, grouped by what fits in one call: a hash slot, if there are several. */
export class WaitingBySlot {
  readonly #hashSlotOf: (name: string) => number
  readonly #slots = new Map<number, Set<KeyPermits>>()

  constructor(hashSlotOf: (name: string) => number) {
    this.#hashSlotOf = hashSlotOf
  }

  get any(): boolean {
    return this.#slots.size > 0
  }

  add(permits: KeyPermits): void {
    const slot = this.#hashSlotOf(permits.name)
    const waiting = this.#slots.get(slot) ?? new Set<KeyPermits>()
    this.#slots.set(slot, waiting.add(permits))
  }

  /** Returns the keys of the next call; empty if there are none. */
  take(): readonly KeyPermits[] {
    const taken: KeyPermits[] = []
    for (const [slot, waiting] of this.#slots) {
      for (const permits of waiting) {
        if (taken.push(permits) === MOST_KEYS) break
      }
      for (const permits of taken) waiting.delete(permits)
      if (waiting.size === 0) this.#slots.delete(slot)
      break
    }
    return taken
  }
}
