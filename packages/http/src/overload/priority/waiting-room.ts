import type { Clock } from '@sluice/limiter-core'
import { classOf, RANK_COUNT } from './levels.ts'

/** Work that waits for a place. */
export interface Waiter {
  readonly level: number
  readonly weight: number
  /** Called once, when a place is free. */
  admit(): void
  /** Called once instead: the room is full, the waiter has waited too long, or its weight exceeds the limit. */
  refuse(reason: 'queue-full' | 'timeout' | 'weight'): void
}

interface Entry<W> {
  readonly waiter: W
  readonly since: number
  /** Position in the order of arrival. */
  readonly arrival: number
}

export interface WaitingRoomOptions {
  /** Places in the room, an integer of at least 1. */
  readonly max: number
  readonly maxWaitMs: number
  /** Whether the room always serves the first come first, also if work waits all the time. Default: false. */
  readonly isPatient?: boolean | undefined
}

/** Part of `maxWaitMs` that work may wait while as important work has waited all the time for `maxWaitMs`. */
const IMPATIENCE = 0.2

/**
 * A short queue: highest level first; among equal levels first come, first served. While work of a priority below
 * `critical`, or more important work, has waited all the time for `maxWaitMs`, that priority is served the latest first
 * and waits only a fifth of `maxWaitMs`: the oldest would probably give up before their answer. Sources: CoDel, and the
 * adaptive LIFO of Facebook's Wangle.
 */
export class WaitingRoom<W extends Waiter = Waiter> {
  readonly #options: WaitingRoomOptions
  readonly #clock: Clock
  // sorted by level, then by arrival
  #entries: Entry<W>[] = []
  #arrivals = 0
  /** Since when work of a rank, or above it, has been waiting all the time. */
  readonly #busySince = new Float64Array(RANK_COUNT)
  #cancelSweep: (() => void) | undefined

  constructor(options: WaitingRoomOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  get size(): number {
    return this.#entries.length
  }

  /**
   * Adds a waiter; refuses the least important one if the room is full. `since`: when it began to wait. Returns a function
   * that removes the waiter.
   */
  add(waiter: W, since: number = this.#clock.now()): () => void {
    const now = this.#clock.now()
    this.#busySince.fill(now, this.level < 0 ? 0 : classOf(this.level) + 1, classOf(waiter.level) + 1)
    const entry = { waiter, since, arrival: this.#arrivals++ }
    this.#entries.splice(this.#endOf(waiter.level), 0, entry)
    if (this.#entries.length > this.#options.max) this.#refuse(this.#leastImportant(now), 'queue-full')
    if (since < now) this.#cancelTimer()
    this.#sweepLater()
    return () => void this.#remove(entry)
  }

  /**
   * Returns the waiter that is next, if its weight is at most `free`, and removes it. Refuses waiters whose weight has
   * become larger than `limit`, which would stop those after them.
   */
  next(free: number, limit: number): W | undefined {
    for (let entry = this.#first(); entry; entry = this.#first()) {
      const { waiter } = entry
      if (waiter.weight > limit) {
        this.#refuse(entry, 'weight')
        continue
      }
      if (waiter.weight > free) return undefined
      this.#remove(entry)
      return waiter
    }
    return undefined
  }

  /** Level of the waiter that is next; -1 if the room is empty. */
  get level(): number {
    return this.#entries.at(-1)?.waiter.level ?? -1
  }

  /** Refuses all waiters. */
  close(): void {
    const refused = this.#entries.splice(0)
    this.#stopIfEmpty()
    for (const { waiter } of refused) waiter.refuse('timeout')
  }

  #first(): Entry<W> | undefined {
    const last = this.#entries.at(-1)
    if (!last || this.#isStanding(last, this.#clock.now())) return last
    return this.#entries[this.#endOf(last.waiter.level - 1)]
  }

  /** Whether work as important as an entry has waited all the time. Critical work waits in any case. */
  #isStanding({ waiter }: Entry<W>, now: number): boolean {
    const rank = classOf(waiter.level)
    if (this.#options.isPatient) return false
    return rank < RANK_COUNT - 1 && now - this.#busySince[rank] >= this.#options.maxWaitMs
  }

  #patienceMs(entry: Entry<W>, now: number): number {
    return this.#isStanding(entry, now) ? this.#options.maxWaitMs * IMPATIENCE : this.#options.maxWaitMs
  }

  #leastImportant(now: number): Entry<W> {
    const first = this.#entries[0] as Entry<W>
    if (this.#isStanding(first, now)) return first
    return this.#entries[this.#endOf(first.waiter.level) - 1] as Entry<W>
  }

  #refuse(entry: Entry<W>, reason: 'queue-full' | 'timeout' | 'weight'): void {
    this.#remove(entry)
    entry.waiter.refuse(reason)
  }

  /** Removes a waiter. Returns false if it has been removed already. */
  #remove(entry: Entry<W>): boolean {
    const { level } = entry.waiter
    const index = this.#countWhile(
      (other) => other.waiter.level < level || (other.waiter.level === level && other.arrival < entry.arrival),
    )
    const isWaiting = this.#entries[index] === entry
    if (isWaiting) this.#entries.splice(index, 1)
    this.#stopIfEmpty()
    return isWaiting
  }

  #stopIfEmpty(): void {
    if (this.#entries.length === 0) this.#cancelTimer()
  }

  #cancelTimer(): void {
    this.#cancelSweep?.()
    this.#cancelSweep = undefined
  }

  /** Returns the index after the last waiter of `level`. */
  #endOf(level: number): number {
    return this.#countWhile(({ waiter }) => waiter.level <= level)
  }

  /** Returns the number of entries before the first one that is not `before`, which holds for none after it. */
  #countWhile(before: (entry: Entry<W>) => boolean): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (before(this.#entries[middle] as Entry<W>)) low = middle + 1
      else high = middle
    }
    return low
  }

  #sweepLater(): void {
    if (this.#cancelSweep || this.#entries.length === 0) return
    const now = this.#clock.now()
    const leftMs = this.#entries.reduce((least, entry) => {
      const patienceMs = this.#patienceMs(entry, now)
      return Math.min(least, patienceMs, entry.since + patienceMs - now)
    }, this.#options.maxWaitMs)
    this.#cancelSweep = this.#clock.after(Math.max(1, leftMs), () => this.#sweep(), { keepAlive: true })
  }

  #sweep(): void {
    this.#cancelSweep = undefined
    const now = this.#clock.now()
    // a clock that was set back does not show how long they have waited
    const isDue = (entry: Entry<W>): boolean => now < entry.since || now - entry.since >= this.#patienceMs(entry, now)
    // one after the other, because a refusal can admit those that waited behind a heavier one
    for (const entry of this.#entries.filter(isDue)) if (this.#remove(entry)) entry.waiter.refuse('timeout')
    this.#sweepLater()
  }
}
