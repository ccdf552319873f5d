import type { KeyPermits } from './key-permits.ts'

/** Keys of one call: a key costs the server some 10 microseconds, and more the more processes hold it. */
const MOST_KEYS = 32

/** Holdings that wait for a call, by what can go in one: a hash slot, where there are several. */
export class Lanes {
  readonly #laneOf: (name: string) => number
  readonly #lanes = new Map<number, Set<KeyPermits>>()

  constructor(laneOf: (name: string) => number) {
    this.#laneOf = laneOf
  }

  get any(): boolean {
    return this.#lanes.size > 0
  }

  add(holding: KeyPermits): void {
    const lane = this.#laneOf(holding.name)
    const waiting = this.#lanes.get(lane) ?? new Set<KeyPermits>()
    this.#lanes.set(lane, waiting.add(holding))
  }

  /** What goes in the next call; nothing where nobody waits. */
  take(): readonly KeyPermits[] {
    const taken: KeyPermits[] = []
    for (const [lane, waiting] of this.#lanes) {
      for (const holding of waiting) {
        if (taken.push(holding) === MOST_KEYS) break
      }
      for (const holding of taken) waiting.delete(holding)
      if (waiting.size === 0) this.#lanes.delete(lane)
      break
    }
    return taken
  }
}
