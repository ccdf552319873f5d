import type { Clock } from '@sluice/limiter-core'

/** Work that waits for a place. */
export interface Waiter {
  readonly level: number
  readonly weight: number
  /** Called once, when a place is free. */
  admit(): void
  /** Called once instead, when the waiter must give up. */
  refuse(): void
}

interface Entry {
  readonly waiter: Waiter
  readonly since: number
}

export interface WaitingRoomOptions {
  /** Places in the room, an integer of at least 1. */
  readonly max: number
  readonly maxWaitMs: number
}

/** Part of `maxWaitMs` that work may wait while the room has not been empty for `maxWaitMs`. */
const IMPATIENCE = 0.2

/**
 * A short queue: highest level first; among equal levels first come, first served. While it has not been empty for
 * `maxWaitMs`, it serves the latest first and waits only a fifth of `maxWaitMs`: the oldest would probably give up
 * before their answer. Sources: CoDel, and the adaptive LIFO of Facebook's Wangle.
 */
export class WaitingRoom {
  readonly #options: WaitingRoomOptions
  readonly #clock: Clock
  // sorted by level, then by arrival
  readonly #entries: Entry[] = []
  #busySince = 0
  #cancelSweep: (() => void) | undefined

  constructor(options: WaitingRoomOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  get size(): number {
    return this.#entries.length
  }

  /** Adds a waiter; refuses the least important one if the room is full. Returns a function that removes the waiter. */
  add(waiter: Waiter): () => void {
    const now = this.#clock.now()
    if (this.#entries.length === 0) this.#busySince = now
    const entry = { waiter, since: now }
    this.#entries.splice(this.#endOf(waiter.level), 0, entry)
    if (this.#entries.length > this.#options.max) this.#refuse(this.#leastImportant(now))
    this.#sweepLater()
    return () => this.#remove(entry)
  }

  /** Returns the waiter that is next, if its weight is at most `free`, and removes it. */
  next(free: number): Waiter | undefined {
    const last = this.#entries.at(-1)
    if (!last) return undefined
    const { level } = last.waiter
    const index = this.#isStanding(this.#clock.now()) ? this.#entries.length - 1 : this.#endOf(level - 1)
    const entry = this.#entries[index] as Entry
    if (entry.waiter.weight > free) return undefined
    this.#entries.splice(index, 1)
    return entry.waiter
  }

  /** Level of the waiter that is next; -1 if the room is empty. */
  get level(): number {
    return this.#entries.at(-1)?.waiter.level ?? -1
  }

  /** Refuses all waiters. */
  close(): void {
    this.#cancelSweep?.()
    for (const { waiter } of this.#entries.splice(0)) waiter.refuse()
  }

  #isStanding(now: number): boolean {
    return now - this.#busySince >= this.#options.maxWaitMs
  }

  #patienceMs(now: number): number {
    return this.#isStanding(now) ? this.#options.maxWaitMs * IMPATIENCE : this.#options.maxWaitMs
  }

  #leastImportant(now: number): Entry {
    const first = this.#entries[0] as Entry
    if (this.#isStanding(now)) return first
    return this.#entries[this.#endOf(first.waiter.level) - 1] as Entry
  }

  #refuse(entry: Entry): void {
    this.#remove(entry)
    entry.waiter.refuse()
  }

  #remove(entry: Entry): void {
    const index = this.#entries.indexOf(entry)
    if (index >= 0) this.#entries.splice(index, 1)
  }

  /** Returns the index after the last waiter of `level`. */
  #endOf(level: number): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle] as Entry).waiter.level <= level) low = middle + 1
      else high = middle
    }
    return low
  }

  #sweepLater(): void {
    if (this.#cancelSweep || this.#entries.length === 0) return
    const now = this.#clock.now()
    const oldest = this.#entries.reduce((least, { since }) => Math.min(least, since), now)
    const leftMs = Math.max(1, oldest + this.#patienceMs(now) - now)
    this.#cancelSweep = this.#clock.after(leftMs, () => this.#sweep(), { keepAlive: true })
  }

  #sweep(): void {
    this.#cancelSweep = undefined
    const now = this.#clock.now()
    const patienceMs = this.#patienceMs(now)
    for (const entry of this.#entries.filter(({ since }) => now - since >= patienceMs)) this.#refuse(entry)
    this.#sweepLater()
  }
}
