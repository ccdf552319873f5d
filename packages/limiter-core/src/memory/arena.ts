import type { Budget, Spender } from './budget.ts'
import { PageLayout, TAG } from './page-layout.ts'
import type { RehashBuffer } from './rehash-buffer.ts'
import { Shard, type SlotRef } from './shard.ts'
import { ShardDirectory } from './shard-directory.ts'

/** Largest shard, in pages. A larger one is split, so that no insert moves more keys than two shards hold. */
const MAX_PAGES = 16
const GROWTH = 1.25
/** Fill level of a shard after it has grown. */
const ROOMY = 0.6
/** Shards per search for expired keys; one page of each is searched. */
const LOOKS = 8

/** Called for each live key that is evicted. */
export type Evicted = (low: number, tag: number, expiry: number) => void

/**
 * All keys with the same number of cells, in a directory of shards. A shard grows by a quarter while the budget allows
 * it, is split at its largest size, and evicts keys when the budget is used up. If other arenas need the bytes, shards
 * shrink and merge.
 */
export class Arena implements Spender {
  /** Slot of the last key that was found or inserted. */
  readonly place: SlotRef
  readonly #layout: PageLayout
  readonly #budget: Budget
  readonly #rehash: RehashBuffer
  readonly #evicted: Evicted
  readonly #shards: ShardDirectory
  #pages = 0
  #tick = 1
  #joined = false

  /** Allocates no pages before the first key. */
  constructor(cellsPerKey: number, budget: Budget, rehash: RehashBuffer, evicted: Evicted) {
    this.#layout = new PageLayout(cellsPerKey)
    this.#budget = budget
    this.#rehash = rehash
    this.#evicted = evicted
    this.#shards = new ShardDirectory(new Shard(0, this.#layout))
    this.place = { words: new Int32Array(0), word: 0, expiry: 0, cells: new Float64Array(0), at: 0 }
  }

  get bytes(): number {
    return this.#pages * this.#layout.bytes
  }

  get pageBytes(): number {
    return this.#layout.bytes
  }

  /** Sets `place` to the slot of a key. Returns false if the arena does not contain the key. */
  find(low: number, high: number): boolean {
    return this.#pages > 0 && this.#shards.of(high).find(low, high, this.place)
  }

  /** Sets `place` to a new slot, with cells of 0, for a key that the arena does not contain. */
  insert(low: number, high: number, tick: number): void {
    this.#tick = tick
    const budget = this.#budget
    const isAboveShare = budget.isLow && !budget.isWithinShare(this, 0)
    if (isAboveShare) budget.refill(tick)
    const isFirst = this.#pages === 0
    if (isFirst) this.#open()
    if (this.#shards.of(high).place(low, high, tick, this.place)) {
      if (budget.isLow && !isAboveShare && !isFirst) budget.refill(tick, this)
    } else if (!this.#growFor(low, high)) this.#evict(this.#shards.of(high), low, high)
  }

  release(tick: number): boolean {
    if (this.#pages === 0) return false
    this.#tick = tick
    for (let left = Math.min(LOOKS, this.#shards.size); left > 0; left--) {
      const before = this.#pages
      this.#releaseFrom(this.#shards.next())
      if (this.#pages < before) return true
    }
    return false
  }

  shrink(tick: number): boolean {
    this.#tick = tick
    for (let left = this.#shards.size; left > 0; left--) {
      const shard = this.#shards.next()
      const { buddy } = this.#shards
      if (shard.pages > 1)
        this.#deal([shard], [shard], Math.min(shard.pages - 1, Math.ceil(shard.pages / GROWTH)), false)
      else if (buddy?.pages === 1) this.#merge(shard, buddy, false)
      else continue
      return true
    }
    return false
  }

  /** Releases pages that the live keys of a shard do not need, unless the shard would have to grow again at once. */
  #releaseFrom(shard: Shard): void {
    const live = shard.livePart(this.#tick) * shard.pages
    if (shard.pages > 1) {
      const needed = Math.max(1, Math.ceil(live / ROOMY))
      if (needed * GROWTH <= shard.pages) this.#deal([shard], [shard], needed, true)
      return
    }
    const { buddy } = this.#shards
    if (buddy?.pages === 1 && live + buddy.livePart(this.#tick) <= ROOMY) this.#merge(shard, buddy, true)
    else if (this.#pages === 1 && live === 0) this.#deal([shard], [], 0, false)
  }

  /** Takes the first page. Other arenas make room for it if necessary; if they cannot, the budget is exceeded. */
  #open(): void {
    if (!this.#joined) this.#budget.join(this)
    this.#joined = true
    this.#budget.grant(this, 1, this.#tick)
    this.#shards.current.addPage()
    this.#spend(1)
  }

  #evict(shard: Shard, low: number, high: number): void {
    const place = this.place
    shard.victim(low, high, place)
    const { words, word, expiry } = place
    this.#evicted(words[word], words[word + TAG], words[expiry])
    words[expiry] = 0
    // the victim's set now has a free way, and `place` never prefers a fuller set
    shard.place(low, high, this.#tick, place)
  }

  /**
   * Grows the shard of a key until there is a slot for the key, which by chance may take several rounds. Returns false
   * if the budget does not allow it.
   */
  #growFor(low: number, high: number): boolean {
    do {
      if (!this.#grow(this.#shards.of(high))) return false
    } while (!this.#shards.of(high).place(low, high, this.#tick, this.place))
    return true
  }

  #grow(shard: Shard): boolean {
    const more = this.#budget.grant(this, Math.ceil(shard.pages * GROWTH) - shard.pages, this.#tick)
    if (more === 0) return false
    const pages = shard.pages + more
    if (pages < MAX_PAGES + 2) this.#deal([shard], [shard], Math.min(MAX_PAGES, pages), true)
    else {
      const sibling = new Shard(0, this.#layout)
      this.#shards.split(shard, sibling)
      this.#deal([shard], [shard, sibling], Math.floor(pages / 2), true)
    }
    return true
  }

  /** Merges two shards of one page into one page. */
  #merge(shard: Shard, buddy: Shard, mayGrow: boolean): void {
    this.#shards.merge()
    this.#deal([shard, buddy], [shard], 1, mayGrow)
  }

  /**
   * Moves the live keys of the shards `from` to the shards `to`, with `pages` pages each. A key that finds no slot by
   * chance makes them grow by a page if `mayGrow` is set and the budget allows it; otherwise another key is evicted.
   */
  #deal(from: readonly Shard[], to: readonly Shard[], pages: number, mayGrow: boolean): void {
    const rehash = this.#rehash
    rehash.pack(from, this.#layout, this.#tick, this.place)
    this.#resize(from, to, pages)
    for (let key = 0; key < rehash.count; key++) {
      const low = rehash.low(key)
      const tag = rehash.tag(key)
      if (!this.#shards.of(tag).place(low, tag, this.#tick, this.place)) {
        if (mayGrow && this.#mayOverdraw(to.length * this.#layout.bytes)) {
          this.#resize(to, to, to[0].pages + 1)
          key = -1
          continue
        }
        this.#evict(this.#shards.of(tag), low, tag)
      }
      rehash.unpack(key, this.#layout, this.place)
    }
    rehash.clear()
  }

  // all arenas share one buffer, so that no other arena can shrink during a move: bytes within the share may exceed the
  // budget, and `refill` restores it later
  #mayOverdraw(bytes: number): boolean {
    return this.#budget.has(bytes) || this.#budget.isWithinShare(this, bytes)
  }

  /** Empties the shards of `to` and gives them `pages` pages each; shards that are only in `from` get none. */
  #resize(from: readonly Shard[], to: readonly Shard[], pages: number): void {
    const surplus = new Shard(0, this.#layout)
    for (const shard of from) {
      this.#spend(-shard.pages)
      shard.givePages(surplus, to.includes(shard) ? pages : 0)
    }
    for (const shard of to) {
      surplus.givePages(shard, Math.max(0, surplus.pages - (pages - shard.pages)))
      while (shard.pages < pages) shard.addPage()
      shard.clear()
      this.#spend(pages)
    }
  }

  #spend(pages: number): void {
    this.#pages += pages
    this.#budget.spend(pages * this.#layout.bytes)
  }
}
