import type { Counter } from '../contracts.ts'
import { PendingUsage } from './pending-usage.ts'

/** Bounds of units, by which usage is told apart that must wait: each four times the one before. */
const SIZES = 16
/** Keys that are looked at for one that is taken. */
const LOOKS = 4

/** What waits to be reported, one for each key. The row of a key knows its place, so that none is looked up by name. */
export class Outbox {
  readonly #most: number
  readonly #places: (PendingUsage | undefined)[] = []
  readonly #free: number[] = []
  #urgent: number[] = []
  #size = 0

  /** So many keys wait at most. */
  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#size
  }

  get hasUrgent(): boolean {
    return this.#urgent.length > 0
  }

  /** What waits at `place`, where that is of this key: 0 is no place. */
  find(place: number, key: string, counter: Counter): PendingUsage | undefined {
    const usage = this.#places[place - 1]
    return usage?.key === key && usage.counter.name === counter.name ? usage : undefined
  }

  /** The place of a key that waits from now on; 0 where there is no room for one more. */
  add(counter: Counter, key: string, partition: number): number {
    if (this.#size >= this.#most) return 0
    this.#size++
    const place = this.#free.pop() ?? this.#places.length
    this.#places[place] = new PendingUsage(counter, key, partition)
    return place + 1
  }

  /** The usage at `place` is to be reported before the next tick. */
  hurry(place: number): void {
    const usage = this.#places[place - 1] as PendingUsage
    if (usage.isUrgent) return
    usage.isUrgent = true
    this.#urgent.push(place - 1)
  }

  /** Takes out at most `most` that are urgent and accepted. Looks at a few times as many, the oldest first. */
  takeUrgent(most: number, accepts: (usage: PendingUsage) => boolean): PendingUsage[] {
    const urgent = this.#urgent
    const taken: PendingUsage[] = []
    const refused: number[] = []
    const end = Math.min(urgent.length, LOOKS * most)
    let at = 0
    for (; at < end && taken.length < most; at++) {
      const usage = this.#places[urgent[at]]
      if (!usage?.isUrgent) continue
      if (accepts(usage)) taken.push(this.#remove(urgent[at], usage))
      else refused.push(urgent[at])
    }
    this.#urgent = urgent.slice(at).concat(refused)
    return taken
  }

  /** Takes out at most `most` that are accepted, those of the most units first. */
  take(most: number, accepts: (usage: PendingUsage) => boolean): PendingUsage[] {
    const taken: PendingUsage[] = []
    if (this.#size <= most) this.#move(taken, most, accepts)
    else {
      const least = this.#leastOf(most)
      this.#move(taken, most, (usage) => sizeOf(usage) > least && accepts(usage))
      this.#move(taken, most, (usage) => sizeOf(usage) === least && accepts(usage))
    }
    this.#urgent = this.#urgent.filter((place) => this.#places[place]?.isUrgent)
    return taken
  }

  /** Removes what waits of a key. */
  drop(place: number, key: string, counter: Counter): void {
    const usage = this.find(place, key, counter)
    if (usage) this.#remove(place - 1, usage)
  }

  /** Removes all, and answers how many units they were. */
  clear(): number {
    let units = 0
    for (const [place, usage] of this.#places.entries()) if (usage) units += this.#remove(place, usage).units
    return units
  }

  #move(taken: PendingUsage[], most: number, accepts: (usage: PendingUsage) => boolean): void {
    for (let place = 0; place < this.#places.length && taken.length < most; place++) {
      const usage = this.#places[place]
      if (usage && accepts(usage)) taken.push(this.#remove(place, usage))
    }
  }

  /** The size of the smallest of the `most` largest. */
  #leastOf(most: number): number {
    const counts = new Array<number>(SIZES).fill(0)
    for (const usage of this.#places) if (usage) counts[sizeOf(usage)]++
    let larger = 0
    let size = SIZES - 1
    while (size > 0 && larger + counts[size] < most) larger += counts[size--]
    return size
  }

  #remove(place: number, usage: PendingUsage): PendingUsage {
    usage.isUrgent = false
    this.#places[place] = undefined
    this.#free.push(place)
    this.#size--
    return usage
  }
}

function sizeOf({ units }: PendingUsage): number {
  return Math.min(SIZES - 1, (32 - Math.clz32(Math.abs(units))) >> 1)
}
