import type { Budget, Spender } from './budget.ts'
import type { Luggage } from './luggage.ts'
import { PageLayout, TAG } from './page-layout.ts'
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
  readonly #layout: PageLayout
  readonly #budget: Budget
  readonly #luggage: Luggage
  readonly #evicted: Evicted
  #depth = 0
  #directory: Shard[]
  #pages = 1
  #shrunk = 0
  #tick = 1

  constructor(cellsPerKey: number, budget: Budget, luggage: Luggage, evicted: Evicted) {
    this.#layout = new PageLayout(cellsPerKey)
    this.#budget = budget
    this.#luggage = luggage
    this.#evicted = evicted
    const shard = new Shard(0, this.#layout)
    shard.addPage()
    this.#directory = [shard]
    this.place = { words: new Int32Array(0), word: 0, expiry: 0, cells: new Float64Array(0), at: 0 }
    budget.join(this)
  }

  get bytes(): number {
    return this.#pages * this.#layout.bytes
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
      this.#rebuild(shard, shard, shard.pages - 1, false)
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
    if (pages <= MAX_PAGES) this.#rebuild(shard, shard, pages, true)
    else this.#rebuild(shard, this.#split(shard), Math.ceil(pages / 2), true)
    return true
  }

  #granted(pages: number): number {
    let granted = pages
    while (granted > 0 && !this.#budget.grant(this, granted * this.#layout.bytes)) granted--
    return granted
  }

  /** Gives half of the shard's part of the directory to a new shard, which is returned. */
  #split(shard: Shard): Shard {
    if (shard.depth === this.#depth) {
      this.#directory = this.#directory.flatMap((entry) => [entry, entry])
      this.#depth++
    }
    shard.depth++
    const sibling = new Shard(shard.depth, this.#layout)
    const span = 2 ** (this.#depth - shard.depth)
    const from = this.#directory.indexOf(shard) + span
    this.#directory.fill(sibling, from, from + span)
    return sibling
  }

  /**
   * Deals the live keys of `shard` out anew, over `pages` pages in it and as many in its sibling if it has one; where
   * it may grow over more, should chance leave a key without a place, as long as there is budget.
   */
  #rebuild(shard: Shard, sibling: Shard, pages: number, mayGrow: boolean): void {
    const luggage = this.#luggage
    luggage.pack(shard, this.#layout, this.#tick, this.place)
    this.#resize(shard, sibling, pages)
    const step = shard === sibling ? 1 : 2
    for (let key = 0; key < luggage.count; key++) {
      const low = luggage.low(key)
      const tag = luggage.tag(key)
      if (!this.#shard(tag).place(low, tag, this.#tick, this.place)) {
        if (mayGrow && this.#mayOverdraw(step * this.#layout.bytes)) {
          this.#resize(shard, sibling, shard.pages + 1)
          key = -1
          continue
        }
        this.#evict(this.#shard(tag), low, tag)
      }
      luggage.unpack(key, this.#layout, this.place)
    }
    luggage.arrived()
  }

  // no one else gives way in the middle of a move, as there is one luggage: what is owed is taken back with the next grant
  #mayOverdraw(bytes: number): boolean {
    return this.#budget.spare(bytes) || this.#budget.owes(this, bytes)
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
}
