import type { KeyPermits } from './key-permits.ts'

/** Maximum number of keys per call. A key takes Redis about 10 microseconds, and more if many processes hold it. */
const MAX_KEYS = 32

/** Keys that wait for a call, grouped by hash slot. */
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

  /** Removes and returns the keys for the next call; an empty array if no key waits. */
  take(): readonly KeyPermits[] {
    const taken: KeyPermits[] = []
    for (const [slot, waiting] of this.#slots) {
      for (const permits of waiting) {
        if (taken.push(permits) === MAX_KEYS) break
      }
      for (const permits of taken) waiting.delete(permits)
      if (waiting.size === 0) this.#slots.delete(slot)
      break
    }
    return taken
  }
}
