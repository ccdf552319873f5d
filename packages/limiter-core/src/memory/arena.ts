import type { Budget, Spender } from './budget.ts'
import { PageLayout, TAG } from './page-layout.ts'
import type { RehashBuffer } from './rehash-buffer.ts'
import { Shard, type SlotRef } from './shard.ts'
import { ShardDirectory } from './shard-directory.ts'

/** A shard with more pages is split, so that no insert moves more keys than two shards hold. */
const MAX_PAGES = 16
const GROWTH = 1.25
/** Fill level of a shard after it has grown. */
const ROOMY = 0.6
/** Number of shards that are searched for expired keys, one page each. */
const LOOKS = 8

/** Called for each live key that is evicted. */
export type Evicted = (low: number, tag: number, expiry: number) => void

/**
 * All keys with the same number of cells: a directory of shards. A shard grows by a quarter while there is budget, is
 * split at its largest size, and evicts keys when there is no budget. If other arenas need the bytes, shards shrink
 * and merge.
 */
export class Arena implements Spender {
  readonly place: SlotRef
  readonly #layout: PageLayout
  readonly #budget: Budget
  readonly #rehash: RehashBuffer
  readonly #evicted: Evicted
  readonly #shards: ShardDirectory
  #pages = 0
  #tick = 1
  #joined = false

  /** Spends nothing before the first key. */
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

  /** Points `place` at a key; false when it is not here. */
  find(low: number, high: number): boolean {
    return this.#pages > 0 && this.#shards.of(high).find(low, high, this.place)
  }

  /** Points `place` at a fresh slot for a key that is not here, its cells zeroed. */
  insert(low: number, high: number, tick: number): void {
    this.#tick = tick
    const budget = this.#budget
    const gives = budget.isLow && !budget.owes(this, 0)
    if (gives) budget.refill(tick)
    const opens = this.#pages === 0
    if (opens) this.#open()
    if (this.#shards.of(high).place(low, high, tick, this.place)) {
      if (budget.isLow && !gives && !opens) budget.refill(tick, this)
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

  /** Releases pages that the keys of a shard do not need even if it grew again at once. */
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

  /** Takes a first page: others make room for it where they must, and it is had in any case. */
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
    // the victim's set has a free way now, and a set with one is never passed over for a fuller one
    shard.place(low, high, this.#tick, place)
  }

  /** Places a key in a shard that grows, again should chance have left it without a place; false where it may not. */
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

  /** Makes one page of two. */
  #merge(shard: Shard, buddy: Shard, mayGrow: boolean): void {
    this.#shards.merge()
    this.#deal([shard, buddy], [shard], 1, mayGrow)
  }

  /**
   * Redistributes the live keys of some shards over others with `pages` pages each. With `mayGrow` they may grow
   * further, within the budget, if a key finds no place by chance.
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
    rehash.arrived()
  }

  // no other arena can shrink during a move, because there is one buffer: the bytes are overdrawn and refilled
  // afterwards
  #mayOverdraw(bytes: number): boolean {
    return this.#budget.has(bytes) || this.#budget.owes(this, bytes)
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
