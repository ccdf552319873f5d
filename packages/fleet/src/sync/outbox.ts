import type { Counter } from '@sluice/limiter-core/backend'
import { PendingUsage } from './pending-usage.ts'

/** Number of size classes of pending usage. The lower bound of a class is four times that of the previous class. */
const SIZES = 16
/** Maximum number of urgent keys that are examined per key that is taken. */
const LOOKS = 4
const INITIAL_PLACES = 1_024

/** Whether reports to a partition may be sent now. */
type Accepts = (partition: number) => boolean

/**
 * Pending reports, one per key. The row of a key in the table stores the position of its report, so that reports are
 * found without a lookup by name. A tick scans an array of size classes (one byte per key) instead of a hundred
 * thousand objects.
 */
export class Outbox {
  readonly #most: number
  #places: (PendingUsage | undefined)[] = []
  #free: number[] = []
  /** 1 plus the size class of each position; 0 for a free position. */
  #sizes = new Uint8Array(INITIAL_PLACES)
  #partitions = new Uint16Array(INITIAL_PLACES)
  #isUrgent = new Uint8Array(INITIAL_PLACES)
  /** Positions of urgent keys, the oldest first; some may no longer be urgent. */
  #urgent: number[] = []
  #urgentSize = 0
  #size = 0

  /** `most` is the maximum number of pending keys. */
  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#size
  }

  get hasUrgent(): boolean {
    return this.#urgentSize > 0
  }

  /** Returns the pending usage at `place` if it belongs to this key; position 0 is never used. */
  find(place: number, key: string, counter: Counter): PendingUsage | undefined {
    const usage = this.#places[place - 1]
    return usage?.key === key && usage.counter.name === counter.name ? usage : undefined
  }

  /** Adds a key and returns its position; 0 if the outbox is full. */
  add(counter: Counter, key: string, partition: number): number {
    if (this.#size >= this.#most) return 0
    this.#size++
    const at = this.#free.pop() ?? this.#places.length
    if (at >= this.#sizes.length) this.#grow()
    this.#places[at] = new PendingUsage(counter, key, partition)
    this.#sizes[at] = 1
    this.#partitions[at] = partition
    return at + 1
  }

  /** Adds units to the pending usage at `place` (see `PendingUsage.add`). */
  count(place: number, units: number, takenAt: number, spanMs: number): void {
    const usage = this.#places[place - 1] as PendingUsage
    usage.add(units, takenAt, spanMs)
    this.#sizes[place - 1] = 1 + sizeOf(usage)
  }

  /** Marks the usage at `place` to be reported before the next tick. */
  markUrgent(place: number): void {
    const at = place - 1
    if (this.#isUrgent[at] === 1) return
    this.#isUrgent[at] = 1
    this.#urgentSize++
    this.#urgent.push(at)
  }

  /** Removes and returns at most `most` accepted urgent keys. Examines at most four times as many, oldest first. */
  takeUrgent(most: number, accepts: Accepts): PendingUsage[] {
    const urgent = this.#urgent
    const taken: PendingUsage[] = []
    const refused: number[] = []
    const end = Math.min(urgent.length, LOOKS * most)
    let looked = 0
    for (; looked < end && taken.length < most; looked++) {
      const at = urgent[looked]
      if (this.#isUrgent[at] === 0) continue
      if (accepts(this.#partitions[at])) taken.push(this.#remove(at))
      else refused.push(at)
    }
    this.#urgent = urgent.slice(looked).concat(refused)
    return taken
  }

  /** Removes and returns at most `most` accepted keys. Keys in larger size classes come first. */
  take(most: number, accepts: Accepts): PendingUsage[] {
    const taken: PendingUsage[] = []
    const least = this.#leastOf(most)
    this.#move(taken, most, accepts, least + 1, SIZES)
    this.#move(taken, most, accepts, least, least)
    if (this.#urgent.length > 2 * this.#urgentSize) this.#urgent = this.#urgent.filter((at) => this.#isUrgent[at] === 1)
    return taken
  }

  /** Removes the pending usage of a key. */
  drop(place: number, key: string, counter: Counter): void {
    if (this.find(place, key, counter)) this.#remove(place - 1)
  }

  /** Removes everything and returns the number of units, including refunds. */
  clear(): number {
    let units = 0
    for (const [at, usage] of this.#places.entries()) if (usage) units += Math.abs(this.#remove(at).units)
    return units
  }

  /** Moves accepted keys of the size classes `from` to `to` into `taken`. */
  #move(taken: PendingUsage[], most: number, accepts: Accepts, from: number, to: number): void {
    for (let at = 0; at < this.#places.length && taken.length < most; at++) {
      const size = this.#sizes[at]
      if (size > from && size <= to + 1 && accepts(this.#partitions[at])) taken.push(this.#remove(at))
    }
  }

  /** Returns the size class of the smallest among the `most` largest usages; 0 if there are at most `most`. */
  #leastOf(most: number): number {
    if (this.#size <= most) return 0
    const counts = new Uint32Array(SIZES + 1)
    for (let at = 0; at < this.#places.length; at++) counts[this.#sizes[at]]++
    let larger = 0
    let size = SIZES - 1
    while (size > 0 && larger + counts[size + 1] < most) larger += counts[1 + size--]
    return size
  }

  #remove(at: number): PendingUsage {
    const usage = this.#places[at] as PendingUsage
    this.#places[at] = undefined
    this.#sizes[at] = 0
    this.#urgentSize -= this.#isUrgent[at]
    this.#isUrgent[at] = 0
    this.#free.push(at)
    if (--this.#size === 0) this.#reset()
    return usage
  }

  /**
   * Releases the arrays when the outbox is empty. Positions that rows still store then find no usage. The arrays are
   * replaced and not cleared, because a caller may be iterating over them.
   */
  #reset(): void {
    this.#places = []
    this.#free = []
    this.#urgent = []
    this.#sizes = new Uint8Array(INITIAL_PLACES)
    this.#partitions = new Uint16Array(INITIAL_PLACES)
    this.#isUrgent = new Uint8Array(INITIAL_PLACES)
  }

  #grow(): void {
    const places = Math.min(this.#most, 2 * this.#sizes.length)
    this.#sizes = grown(new Uint8Array(places), this.#sizes)
    this.#partitions = grown(new Uint16Array(places), this.#partitions)
    this.#isUrgent = grown(new Uint8Array(places), this.#isUrgent)
  }
}

function grown<T extends Uint8Array | Uint16Array>(larger: T, array: T): T {
  larger.set(array)
  return larger
}

function sizeOf({ units }: PendingUsage): number {
  return Math.min(SIZES - 1, (32 - Math.clz32(Math.abs(units))) >> 1)
}
