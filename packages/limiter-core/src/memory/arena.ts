import type { Budget, Spender } from './budget.ts'
import { PAGE_SLOTS, pageBytes, TAG } from './page-layout.ts'
import { type Place, Shard } from './shard.ts'

/** A shard of more pages is cut in two, so that no single insert moves more than some thousand keys. */
const MAX_PAGES = 16
const GROWTH = 1.25

/** Told of every key that had to go while it was live. */
export type Evicted = (low: number, tag: number, expiry: number) => void

/**
 * All keys with the same number of cells: an extendible directory of shards. A shard grows by a quarter while there
 * is budget, is cut in two at its largest, and evicts when there is none.
 */
export class Arena implements Spender {
  readonly place: Place
  readonly #cellsPerKey: number
  readonly #budget: Budget
  readonly #evicted: Evicted
  #depth = 0
  #directory: Shard[]
  #pages = 1
  // keys on the move from full shards to roomier ones
  #moving = new Int32Array(0)
  #movingCells = new Float64Array(0)
  #shrunk = 0
  #tick = 1

  constructor(cellsPerKey: number, budget: Budget, evicted: Evicted) {
    this.#cellsPerKey = cellsPerKey
    this.#budget = budget
    this.#evicted = evicted
    const shard = new Shard(0, cellsPerKey)
    shard.addPage()
    this.#directory = [shard]
    this.place = { words: new Int32Array(0), word: 0, expiry: 0, cells: new Float64Array(0), at: 0 }
    budget.join(this)
  }

  get bytes(): number {
    return this.#pages * pageBytes(this.#cellsPerKey) + this.#moving.byteLength + this.#movingCells.byteLength
  }

  /** Points `place` at a key; false when it is not here. */
  find(low: number, high: number): boolean {
    return this.#shard(high).find(low, high, this.place)
  }

  /** Points `place` at a fresh slot for a key that is not here, its cells zeroed. */
  insert(low: number, high: number, tick: number): void {
    this.#tick = tick
    do {
      if (this.#shard(high).place(low, high, tick, this.place)) return
    } while (this.#grow(this.#shard(high)))
    this.#evict(this.#shard(high), low, high)
  }

  shrink(): boolean {
    for (let tried = 0; tried < this.#directory.length; tried++) {
      this.#shrunk = (this.#shrunk + 1) % this.#directory.length
      const shard = this.#directory[this.#shrunk]
      if (shard.pages < 2) continue
      this.#rebuild(shard, shard, shard.pages - 1)
      return true
    }
    return false
  }

  #shard(high: number): Shard {
    // a shift by 32 is a shift by 0, hence two
    return this.#directory[(high >>> 1) >>> (31 - this.#depth)]
  }

  #evict(shard: Shard, low: number, high: number): void {
    const place = this.place
    shard.victim(low, high, place)
    const { words, word, expiry } = place
    this.#evicted(words[word], words[word + TAG], words[expiry])
    words[expiry] = 0
    // the victim's set has a free way now, and a set with one is never passed over for a fuller one
    shard.place(low, high, this.#tick, place)
  }

  #grow(shard: Shard): boolean {
    const wanted = Math.ceil(shard.pages * GROWTH) - shard.pages
    const more = this.#granted(wanted)
    if (more === 0) return false
    const pages = shard.pages + more
    if (pages <= MAX_PAGES) this.#rebuild(shard, shard, pages)
    else this.#rebuild(shard, this.#split(shard), Math.ceil(pages / 2))
    return true
  }

  #granted(pages: number): number {
    let granted = pages
    while (granted > 0 && !this.#budget.grant(this, granted * pageBytes(this.#cellsPerKey))) granted--
    return granted
  }

  /** Gives half of the shard's part of the directory to a new shard, which is returned. */
  #split(shard: Shard): Shard {
    if (shard.depth === this.#depth) {
      this.#directory = this.#directory.flatMap((entry) => [entry, entry])
      this.#depth++
    }
    shard.depth++
    const sibling = new Shard(shard.depth, this.#cellsPerKey)
    const span = 2 ** (this.#depth - shard.depth)
    const from = this.#directory.indexOf(shard) + span
    this.#directory.fill(sibling, from, from + span)
    return sibling
  }

  /**
   * Deals the live keys of `shard` out anew, over `pages` pages in it and as many in its sibling if it has one; over
   * more where chance leaves a key without a place, as long as there is budget.
   */
  #rebuild(shard: Shard, sibling: Shard, pages: number): void {
    const count = this.#gather(shard)
    const targets = shard === sibling ? [shard] : [shard, sibling]
    this.#resize(shard, sibling, pages)
    for (let key = 0; key < count; key++) {
      if (this.#land(key)) continue
      if (this.#granted(targets.length) === targets.length) {
        this.#resize(shard, sibling, shard.pages + 1)
        key = -1
      } else {
        this.#evict(this.#shard(this.#moving[3 * key + 1]), this.#moving[3 * key], this.#moving[3 * key + 1])
        this.#copy(key)
      }
    }
  }

  /** Leaves `shard` and its sibling empty, with `pages` pages each. */
  #resize(shard: Shard, sibling: Shard, pages: number): void {
    const before = shard.pages + (shard === sibling ? 0 : sibling.pages)
    while (shard.pages > pages) {
      if (sibling.pages < pages) shard.givePage(sibling)
      else shard.dropPage()
    }
    for (const target of [shard, sibling]) {
      while (target.pages < pages) target.addPage()
      target.clear()
    }
    this.#pages += shard.pages + (shard === sibling ? 0 : sibling.pages) - before
  }

  #gather(shard: Shard): number {
    const cellsPerKey = this.#cellsPerKey
    const slots = shard.pages * PAGE_SLOTS
    if (this.#movingCells.length < slots * cellsPerKey) {
      this.#moving = new Int32Array(slots * 3)
      this.#movingCells = new Float64Array(slots * cellsPerKey)
    }
    let count = 0
    const place = this.place
    shard.each(this.#tick, place, () => {
      const { words, word, cells, at } = place
      this.#moving[3 * count] = words[word]
      this.#moving[3 * count + 1] = words[word + TAG]
      this.#moving[3 * count + 2] = words[place.expiry]
      for (let cell = 0; cell < cellsPerKey; cell++) this.#movingCells[count * cellsPerKey + cell] = cells[at + cell]
      count++
    })
    return count
  }

  #land(key: number): boolean {
    const low = this.#moving[3 * key]
    const tag = this.#moving[3 * key + 1]
    if (!this.#shard(tag).place(low, tag, this.#tick, this.place)) return false
    this.#copy(key)
    return true
  }

  #copy(key: number): void {
    const place = this.place
    place.words[place.word + TAG] = this.#moving[3 * key + 1]
    place.words[place.expiry] = this.#moving[3 * key + 2]
    const from = key * this.#cellsPerKey
    for (let cell = 0; cell < this.#cellsPerKey; cell++) place.cells[place.at + cell] = this.#movingCells[from + cell]
  }
}
