/** Ways of a set: how many keys share the eight places that a hash points at. */
const WAYS = 8
/** Sets of a page; a page is what a shard grows by. */
const SETS = 64
/** Int32 words of a set: eight low lanes, eight tags with the used fraction, eight expiry ticks. */
const STRIDE = 3 * WAYS
/** From the low lane of a slot to its tag: the high lane, and in the low byte the used fraction in 255ths. */
export const TAG: number = WAYS
/** From the low lane of a slot to its expiry tick. */
export const EXPIRY: number = 2 * WAYS
// one bit a set, behind the sets of a page: a key of this set lives in its second set
const OVERFLOW = SETS * STRIDE
const PAGE_WORDS = OVERFLOW + SETS / 32
// two typed arrays and their buffers, as V8 keeps them
const PAGE_OBJECTS_BYTES = 400

/** The fraction takes the low byte of the tag; the rest is the high lane of the fingerprint. */
export const FRACTION = 0xff
/** Below it a second set is not looked at when a key is placed; keeps nine keys of ten in their first set. */
const CROWDED = 5

/** Keys that a page has room for. */
export const PAGE_SLOTS: number = SETS * WAYS

/** Bytes of one page with `cells` float64 cells a key. */
export function pageBytes(cells: number): number {
  return PAGE_WORDS * 4 + PAGE_SLOTS * cells * 8 + PAGE_OBJECTS_BYTES
}

/** Where a key was found or placed. One for each arena: whoever finds next overwrites it. */
export interface Place {
  words: Int32Array
  /** Index of the low lane in `words`; tag and expiry lie one and two strides of eight behind. */
  word: number
  cells: Float64Array
  /** Index of the first cell in `cells`. */
  at: number
}

/**
 * A part of the table: pages of eight-way sets, two sets for each key. A slot without a key has expiry tick 0, and one
 * whose tick has passed holds a key that is as good as new, so that both are free.
 */
export class Shard {
  /** Leading bits of the high lane that all keys here share. */
  depth: number
  readonly #cellsPerKey: number
  readonly #words: Int32Array[] = []
  readonly #cells: Float64Array[] = []
  #sets = 0

  constructor(depth: number, cellsPerKey: number) {
    this.depth = depth
    this.#cellsPerKey = cellsPerKey
  }

  get pages(): number {
    return this.#words.length
  }

  /** Appends an empty page. Keys already here must be placed anew. */
  addPage(): void {
    this.#words.push(new Int32Array(PAGE_WORDS))
    this.#cells.push(new Float64Array(PAGE_SLOTS * this.#cellsPerKey))
    this.#sets += SETS
  }

  /** Hands the last page over, as it is. Keys on both sides must be placed anew. */
  givePage(to: Shard): void {
    const words = this.#words.pop()
    const cells = this.#cells.pop()
    if (!words || !cells) return
    to.#words.push(words)
    to.#cells.push(cells)
    this.#sets -= SETS
    to.#sets += SETS
  }

  /** Drops the last page. */
  dropPage(): void {
    this.givePage(new Shard(0, this.#cellsPerKey))
  }

  /** Forgets every key. */
  clear(): void {
    for (const words of this.#words) words.fill(0)
  }

  find(low: number, high: number, place: Place): boolean {
    const first = this.#first(low)
    if (this.#scan(first, low, high, place)) return true
    return this.#overflows(first) && this.#scan(this.#second(low, high), low, high, place)
  }

  /** Finds a free slot for a new key and writes its fingerprint; false when both its sets are full of live keys. */
  place(low: number, high: number, tick: number, place: Place): boolean {
    const first = this.#first(low)
    const inFirst = this.#live(first, tick)
    if (inFirst < CROWDED) return this.#settle(first, low, high, tick, place)
    const second = this.#second(low, high)
    if (this.#live(second, tick) >= inFirst) return inFirst < WAYS && this.#settle(first, low, high, tick, place)
    this.#words[first >>> 6][OVERFLOW + ((first & 63) >>> 5)] |= 1 << (first & 31)
    return this.#settle(second, low, high, tick, place)
  }

  /**
   * Points `place` at the key to give up for a new one: the least used fraction, and among equals, all-denied ones too,
   * the one soonest free.
   */
  victim(low: number, high: number, place: Place): void {
    let least = Number.POSITIVE_INFINITY
    for (const set of [this.#first(low), this.#second(low, high)]) {
      const words = this.#words[set >>> 6]
      const from = (set & 63) * STRIDE
      for (let way = from; way < from + WAYS; way++) {
        const rank = (words[way + TAG] & FRACTION) * 2 ** 31 + words[way + EXPIRY]
        if (rank >= least) continue
        least = rank
        this.#point(set, way - from, place)
      }
    }
  }

  /** Calls `visit` for every key that is not expired. */
  each(tick: number, visit: (low: number, tag: number, expiry: number, cells: Float64Array, at: number) => void): void {
    for (let page = 0; page < this.pages; page++) {
      const words = this.#words[page]
      for (let slot = 0; slot < PAGE_SLOTS; slot++) {
        const word = (slot >>> 3) * STRIDE + (slot & 7)
        const expiry = words[word + EXPIRY]
        if (expiry >= tick) visit(words[word], words[word + TAG], expiry, this.#cells[page], slot * this.#cellsPerKey)
      }
    }
  }

  #first(low: number): number {
    return Math.floor((low >>> 0) * (this.#sets / 2 ** 32))
  }

  #second(low: number, high: number): number {
    const mixed = Math.imul((high & ~FRACTION) ^ (low >>> 15), 0x2c1b3c6d) ^ low
    return Math.floor((Math.imul(mixed ^ (mixed >>> 13), 0x297a2d39) >>> 0) * (this.#sets / 2 ** 32))
  }

  #overflows(set: number): boolean {
    return (this.#words[set >>> 6][OVERFLOW + ((set & 63) >>> 5)] & (1 << (set & 31))) !== 0
  }

  #scan(set: number, low: number, high: number, place: Place): boolean {
    const words = this.#words[set >>> 6]
    const from = (set & 63) * STRIDE
    for (let way = from; way < from + WAYS; way++) {
      if (words[way] !== low || ((words[way + TAG] ^ high) & ~FRACTION) !== 0 || words[way + EXPIRY] === 0) continue
      this.#point(set, way - from, place)
      return true
    }
    return false
  }

  #live(set: number, tick: number): number {
    const words = this.#words[set >>> 6]
    const from = (set & 63) * STRIDE + EXPIRY
    let live = 0
    for (let way = from; way < from + WAYS; way++) if (words[way] >= tick) live++
    return live
  }

  #settle(set: number, low: number, high: number, tick: number, place: Place): boolean {
    const words = this.#words[set >>> 6]
    const from = (set & 63) * STRIDE
    for (let way = from; way < from + WAYS; way++) {
      if (words[way + EXPIRY] >= tick) continue
      words[way] = low
      words[way + TAG] = high & ~FRACTION
      words[way + EXPIRY] = tick
      this.#point(set, way - from, place)
      place.cells.fill(0, place.at, place.at + this.#cellsPerKey)
      return true
    }
    return false
  }

  #point(set: number, way: number, place: Place): void {
    place.words = this.#words[set >>> 6]
    place.word = (set & 63) * STRIDE + way
    place.cells = this.#cells[set >>> 6]
    place.at = ((set & 63) * WAYS + way) * this.#cellsPerKey
  }
}
