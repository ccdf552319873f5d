import { CELLS, FRACTION, HEAVY, type PageLayout, TAG, WAYS } from './page-layout.ts'

/**
 * A key is placed in its first set, without a look at its second set, if the first has fewer live keys than this. Nine
 * of ten keys are in their first set.
 */
const CROWDED = 5
const ALL_WAYS = 2 ** WAYS - 1
/** Places in the two sets of a key that heavy keys, which the tail remembers, leave to light ones. */
const LIGHT_PLACES = 4

/** The slot of a key that was found or placed. Each arena has one such object, which every look-up overwrites. */
export interface SlotRef {
  words: Int32Array
  /** Index of the low half in `words`; the tag follows at an offset of `TAG`. */
  word: number
  /** Index of the expiry tick in `words`. */
  expiry: number
  cells: Float64Array
  /** Index of the first cell in `cells`. */
  at: number
}

/**
 * A part of the table: pages of eight-way sets. Each key has two possible sets, and its low half is never 0. A slot
 * without a key is all zeros; a slot whose expiry tick has passed holds an unused key. Both are free.
 */
export class Shard {
  /** Leading bits of the high half that all keys here share. */
  depth: number
  readonly #layout: PageLayout
  // copies of the layout's numbers, which every look-up needs
  readonly #bits: number
  readonly #inPage: number
  readonly #stride: number
  // two views of the same pages: everything a decision reads about a key is within one set
  readonly #words: Int32Array[] = []
  readonly #cells: Float64Array[] = []
  #sets = 0

  constructor(depth: number, layout: PageLayout) {
    this.depth = depth
    this.#layout = layout
    this.#bits = layout.bits
    this.#inPage = layout.sets - 1
    this.#stride = layout.stride
  }

  get pages(): number {
    return this.#words.length
  }

  /** Appends an empty page. The existing keys must be placed again. */
  addPage(): void {
    const page = new ArrayBuffer(this.#layout.bufferBytes)
    this.#words.push(new Int32Array(page))
    this.#cells.push(new Float64Array(page))
    this.#sets += this.#layout.sets
  }

  /** Moves the last pages to another shard, unchanged, until `kept` are left. All keys of both must be placed again. */
  givePages(to: Shard, kept: number): void {
    const given = this.pages - kept
    if (given <= 0) return
    to.#words.push(...this.#words.splice(kept))
    to.#cells.push(...this.#cells.splice(kept))
    this.#sets -= given * this.#layout.sets
    to.#sets += given * this.#layout.sets
  }

  /** Removes all keys. */
  clear(): void {
    for (const words of this.#words) words.fill(0)
  }

  /** Sets `place` to the slot of a key. Returns false if the shard does not contain the key. */
  find(low: number, high: number, place: SlotRef): boolean {
    const first = this.#first(low)
    return (
      this.#findIn(first, low, high, place) ||
      (this.#overflows(first) && this.#findIn(this.#second(low, high), low, high, place))
    )
  }

  /** Writes the fingerprint of a new key to a free slot. Returns false if live keys fill both sets of the key. */
  place(low: number, high: number, tick: number, place: SlotRef): boolean {
    const first = this.#first(low)
    const inFirst = this.#live(first, tick)
    if (inFirst < CROWDED) return this.#settle(first, low, high, tick, place)
    const second = this.#second(low, high)
    if (this.#live(second, tick) >= inFirst) return inFirst < WAYS && this.#settle(first, low, high, tick, place)
    this.#words[first >>> this.#bits][this.#overflowWord(first)] |= 1 << (first & 31)
    return this.#settle(second, low, high, tick, place)
  }

  /**
   * Sets `place` to the key to evict for a new one: the light key with the smallest used fraction or, if fewer than
   * `LIGHT_PLACES` keys in the two sets are light, such a heavy key. Among equal fractions, the key that expires first
   * is evicted; all denied keys have the same fraction.
   *
   * The fractions of the other light keys are lowered by the fraction of the victim until they are used again
   * (GreedyDual). Without this, two keys in the same full set would evict each other at each request, because a new key
   * has the smallest fraction, and neither would ever be denied.
   */
  victim(low: number, high: number, place: SlotRef): void {
    const sets = [this.#first(low), this.#second(low, high)]
    const light = this.#least(sets, 0, HEAVY, place)
    if (light < LIGHT_PLACES && this.#least(sets, HEAVY, FRACTION + 1, place) > 0) return
    const fraction = place.words[place.word + TAG] & FRACTION
    if (fraction === 0 || fraction >= HEAVY) return
    for (const set of sets) this.#lower(set, fraction)
  }

  /** Calls `visit` for every live key, after setting `place` to its slot. */
  each(tick: number, place: SlotRef, visit: () => void): void {
    for (let page = 0; page < this.pages; page++) {
      const words = this.#words[page]
      for (let slot = 0; slot < this.#layout.slots; slot++) {
        const word = (slot >>> 3) * this.#stride + (slot & 7)
        if (words[word + this.#layout.expiry] < tick) continue
        this.#point(page * this.#layout.sets + (slot >>> 3), slot & 7, place)
        visit()
      }
    }
  }

  /** Returns the fraction of slots with live keys, measured in the first page, because keys are spread evenly. */
  livePart(tick: number): number {
    let live = 0
    for (let set = 0; set <= this.#inPage; set++) live += this.#live(set, tick)
    return live / this.#layout.slots
  }

  // scales twenty bits of the low half to the number of sets, which is below 2^11
  #first(low: number): number {
    return Math.imul(low >>> 12, this.#sets) >>> 20
  }

  #second(low: number, high: number): number {
    const mixed = Math.imul((high & ~FRACTION) ^ (low >>> 15), 0x2c1b3c6d) ^ low
    return Math.imul(Math.imul(mixed ^ (mixed >>> 13), 0x297a2d39) >>> 12, this.#sets) >>> 20
  }

  #overflowWord(set: number): number {
    return this.#layout.sets * this.#stride + ((set & this.#inPage) >>> 5)
  }

  #overflows(set: number): boolean {
    return (this.#words[set >>> this.#bits][this.#overflowWord(set)] & (1 << (set & 31))) !== 0
  }

  #findIn(set: number, low: number, high: number, place: SlotRef): boolean {
    const words = this.#words[set >>> this.#bits]
    const from = (set & this.#inPage) * this.#stride
    // one bit per way, computed without branches: a mispredicted branch costs more than seven comparisons
    let unequal = 0
    for (let way = 0; way < WAYS; way++) {
      const x = words[from + way] ^ low
      // x or its negative has the sign bit set unless x is 0
      unequal |= ((x | (0 - x)) >>> 31) << way
    }
    for (let hits = unequal ^ ALL_WAYS; hits !== 0; hits &= hits - 1) {
      const way = 31 - Math.clz32(hits & (0 - hits))
      if (((words[from + way + TAG] ^ high) & ~FRACTION) !== 0) continue
      this.#point(set, way, place)
      return true
    }
    return false
  }

  /** Sets `place` to the key to evict among those with fractions in a range. Returns the number of such keys. */
  #least(sets: readonly number[], from: number, below: number, place: SlotRef): number {
    let least = Number.POSITIVE_INFINITY
    let found = 0
    for (const set of sets) {
      const words = this.#words[set >>> this.#bits]
      const start = (set & this.#inPage) * this.#stride
      for (let way = start; way < start + WAYS; way++) {
        const fraction = words[way + TAG] & FRACTION
        if (fraction < from || fraction >= below) continue
        found++
        const rank = fraction * 2 ** 31 + words[way + this.#layout.expiry]
        if (rank >= least) continue
        least = rank
        this.#point(set, way - start, place)
      }
    }
    return found
  }

  /** Lowers the fractions of the light keys in a set. */
  #lower(set: number, by: number): void {
    const words = this.#words[set >>> this.#bits]
    const start = (set & this.#inPage) * this.#stride
    for (let tag = start + TAG; tag < start + TAG + WAYS; tag++) {
      const fraction = words[tag] & FRACTION
      if (fraction >= by && fraction < HEAVY) words[tag] -= by
    }
  }

  #live(set: number, tick: number): number {
    const words = this.#words[set >>> this.#bits]
    const from = (set & this.#inPage) * this.#stride + this.#layout.expiry
    let live = 0
    for (let way = from; way < from + WAYS; way++) if (words[way] >= tick) live++
    return live
  }

  #settle(set: number, low: number, high: number, tick: number, place: SlotRef): boolean {
    const words = this.#words[set >>> this.#bits]
    const from = (set & this.#inPage) * this.#stride
    for (let way = from; way < from + WAYS; way++) {
      if (words[way + this.#layout.expiry] >= tick) continue
      words[way] = low
      words[way + TAG] = high & ~FRACTION
      words[way + this.#layout.expiry] = tick
      this.#point(set, way - from, place)
      place.cells.fill(0, place.at, place.at + this.#layout.cells)
      return true
    }
    return false
  }

  #point(set: number, way: number, place: SlotRef): void {
    const from = (set & this.#inPage) * this.#stride
    const words = this.#words[set >>> this.#bits]
    // every write of a pointer costs the garbage collector work
    if (place.words !== words) {
      place.words = words
      place.cells = this.#cells[set >>> this.#bits]
    }
    place.word = from + way
    place.expiry = from + way + this.#layout.expiry
    place.at = from / 2 + CELLS + way * this.#layout.cells
  }
}
