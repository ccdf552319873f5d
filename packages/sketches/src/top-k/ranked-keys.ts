import { detached } from './kept-key.ts'

/** Largest number of keys in a summary. */
export const MAX_KEYS: number = 2 ** 20

const FIRST_ROOM = 64

/**
 * A few keys with their counts, the least of which is at hand: a binary heap of slots, each key in it once.
 *
 *     slots   key → slot        heap   position → slot, no count less than that of its parent
 *     counts  slot → count      at     slot → position
 *
 * A count that rises sinks in the heap, O(log n), and mostly not at all. Room grows as keys come, up to `capacity`.
 */
export class RankedKeys {
  readonly capacity: number
  /** By slot, from 0 to `size`. */
  readonly keys: string[] = []
  /** By slot. Integers; read-only. Replaced by another array when it grows. */
  counts!: Float64Array
  #slots = new Map<string, number>()
  #heap!: Int32Array
  #at!: Int32Array

  constructor(capacity: number) {
    this.capacity = capacity
    this.clear()
  }

  get size(): number {
    return this.keys.length
  }

  get full(): boolean {
    return this.keys.length === this.capacity
  }

  /** Smallest count; 0 if there is no key. */
  get least(): number {
    return this.keys.length === 0 ? 0 : this.counts[this.#heap[0]]
  }

  /** Undefined where the key is not among them. */
  slotOf(key: string): number | undefined {
    return this.#slots.get(key)
  }

  /** The slot at a position of the heap: 0 has the least count. */
  slotAt(position: number): number {
    return this.#heap[position]
  }

  raise(slot: number, amount: number): void {
    this.counts[slot] += amount
    this.#sink(slot)
  }

  /** Adds a key that is not contained, only while it is not `full`. Returns its slot. */
  insert(key: string, count: number): number {
    const slot = this.keys.length
    if (slot === this.counts.length) this.#grow()
    const own = detached(key)
    this.keys.push(own)
    this.#slots.set(own, slot)
    this.counts[slot] = count
    this.#rise(slot, slot)
    return slot
  }

  /**
   * Replaces the smallest key with one that is not contained, with a count of at least the smallest. Returns its
   * slot.
   */
  replaceLeast(key: string, count: number): number {
    const slot = this.#heap[0]
    const own = detached(key)
    this.#slots.delete(this.keys[slot])
    this.#slots.set(own, slot)
    this.keys[slot] = own
    this.counts[slot] = count
    this.#sink(slot)
    return slot
  }

  clear(): void {
    const room = Math.min(this.capacity, FIRST_ROOM)
    this.keys.length = 0
    this.#slots = new Map()
    this.counts = new Float64Array(room)
    this.#heap = new Int32Array(room)
    this.#at = new Int32Array(room)
  }

  #grow(): void {
    const room = Math.min(this.capacity, 2 * this.counts.length)
    this.counts = grown(new Float64Array(room), this.counts)
    this.#heap = grown(new Int32Array(room), this.#heap)
    this.#at = grown(new Int32Array(room), this.#at)
  }

  #rise(slot: number, from: number): void {
    const heap = this.#heap
    const at = this.#at
    const counts = this.counts
    const count = counts[slot]
    let position = from
    while (position > 0) {
      const above = (position - 1) >> 1
      const parent = heap[above]
      if (counts[parent] <= count) break
      heap[position] = parent
      at[parent] = position
      position = above
    }
    heap[position] = slot
    at[slot] = position
  }

  #sink(slot: number): void {
    const heap = this.#heap
    const at = this.#at
    const counts = this.counts
    const size = this.keys.length
    const count = counts[slot]
    let position = at[slot]
    for (;;) {
      let below = 2 * position + 1
      if (below >= size) break
      if (below + 1 < size && counts[heap[below + 1]] < counts[heap[below]]) below++
      const child = heap[below]
      if (counts[child] >= count) break
      heap[position] = child
      at[child] = position
      position = below
    }
    heap[position] = slot
    at[slot] = position
  }
}

/** Compares by UTF-16 units: the same order on every machine, whatever its locale. */
export function byUnits(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function grown<A extends Float64Array | Int32Array>(room: A, filled: A): A {
  room.set(filled)
  return room
}
