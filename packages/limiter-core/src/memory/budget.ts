/** A part of the table that uses bytes of a budget and can release some of them. */
export interface Spender {
  readonly bytes: number
  /** Bytes of one page, the least that an arena with a live key has. */
  readonly pageBytes: number
  /** Releases bytes that no live key needs, a part at a time. Returns false if none were found. */
  release(tick: number): boolean
  /** Releases bytes even if live keys have to be evicted. Returns false if only one page is left. */
  shrink(tick: number): boolean
}

/** Requests per arena after which an unsuccessful search is repeated within the same tick. */
const LOOKS_EVERY = 64
/** Pages that a growing shard takes in addition if a key finds no slot by chance: one for each half of a split. */
const BY_CHANCE = 2
/** Size of the reserve, in pages of the largest kind: a shard grows by at most four pages at once. */
const RESERVED_PAGES = 4 + BY_CHANCE
/** Upper bound of the reserve, as a part of the budget. */
const RESERVE = 1 / 16

/**
 * A limit in bytes that several arenas share. Each arena may claim an equal share, whichever filled up first, and bytes
 * of expired keys go to the arenas that need them. Claims are served from a reserve, which later inserts refill in
 * steps, so that no insert has to move many keys.
 */
export class Budget {
  readonly #maxBytes: number
  /** Sorted by page size, the largest first. */
  readonly #spenders: Spender[] = []
  #spent = 0
  #reserve = 0
  #turn = 0
  #lookedAt = 0
  #looksMissed = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  join(spender: Spender): void {
    this.#spenders.push(spender)
    this.#spenders.sort((a, b) => b.pageBytes - a.pageBytes)
    const pages = RESERVED_PAGES * this.#spenders[0].pageBytes
    if (this.#spenders.length > 1) this.#reserve = Math.min(pages, this.#maxBytes * RESERVE)
  }

  get spent(): number {
    return this.#spent
  }

  /** Records bytes that were taken or, if negative, released. */
  spend(bytes: number): void {
    this.#spent += bytes
  }

  /** Whether `bytes` more are available, including the reserve. */
  has(bytes: number): boolean {
    return this.#left >= bytes
  }

  /** Whether `bytes` more are available without the reserve. */
  hasSpare(bytes: number): boolean {
    return this.#left - this.#reserve >= bytes
  }

  /** Whether `bytes` more are within the share of `spender`. */
  isWithinShare(spender: Spender, bytes: number): boolean {
    return spender.bytes + bytes <= this.#share
  }

  /** Whether a part of the reserve is used. */
  get isLow(): boolean {
    return this.#left < this.#reserve
  }

  /**
   * Returns how many of `pages` pages `spender` may take: at least half of them, or none. Pages come from bytes outside
   * the reserve; within its share also from the reserve and from arenas above their share; beyond its share also from
   * expired keys of other arenas.
   */
  grant(spender: Spender, pages: number, tick: number): number {
    const { pageBytes } = spender
    const least = Math.ceil(pages / 2) * pageBytes
    const within = (bytes: number): number => Math.min(pages, Math.floor(bytes / pageBytes))
    if (this.hasSpare(least) || !this.isWithinShare(spender, least)) {
      return this.#makeSpare(spender, least, tick) ? within(this.#left - this.#reserve) : 0
    }
    while (this.#left < least) if (!this.#release(tick, spender) && !this.#claim(tick)) return 0
    return within(Math.min(this.#left, this.#share - spender.bytes))
  }

  /**
   * Searches other arenas for expired keys if fewer than `bytes` plus `BY_CHANCE` pages are available outside the
   * reserve, unless the reserve itself is in use. Returns whether `bytes` are available then.
   */
  #makeSpare(spender: Spender, bytes: number, tick: number): boolean {
    const roomy = bytes + BY_CHANCE * spender.pageBytes
    if (!this.hasSpare(roomy) && !this.isLow && this.#mayLook(tick)) {
      while (!this.hasSpare(roomy) && this.#release(tick, spender)) this.#lookedAt = 0
    }
    return this.hasSpare(bytes)
  }

  /** Refills the reserve from expired keys or, without them, by one step from the largest arena above its share. */
  refill(tick: number, except?: Spender): void {
    // an unsuccessful search is expensive, so it is not made each time; a claim is always made, because the next
    // growths would use up a low reserve
    let found = this.#mayLook(tick) && this.#release(tick, except)
    while (found && this.isLow) found = this.#release(tick, except)
    if (found || this.#claim(tick)) this.#lookedAt = 0
  }

  #mayLook(tick: number): boolean {
    if (tick === this.#lookedAt && ++this.#looksMissed < LOOKS_EVERY * this.#spenders.length) return false
    this.#lookedAt = tick
    this.#looksMissed = 0
    return true
  }

  /** Searches each arena at most once, starting with the one of the last success. */
  #release(tick: number, except?: Spender): boolean {
    for (let left = this.#spenders.length; left > 0; left--) {
      this.#turn %= this.#spenders.length
      const one = this.#spenders[this.#turn]
      if (one !== except && one.release(tick)) return true
      this.#turn++
    }
    return false
  }

  /** Makes the largest arena above its share release bytes. */
  #claim(tick: number): boolean {
    const share = this.#share
    let largest: Spender | undefined
    for (const one of this.#spenders) {
      if (one.bytes > Math.max(share, one.pageBytes, largest?.bytes ?? 0)) largest = one
    }
    return largest?.shrink(tick) === true
  }

  /** Equal share of an arena, in bytes. Arenas whose single page exceeds the share are left out, with their bytes. */
  get #share(): number {
    let bytes = this.#maxBytes - this.#reserve
    let sharing = this.#spenders.length
    for (const { pageBytes } of this.#spenders) {
      if (pageBytes * sharing <= bytes) break
      bytes -= pageBytes
      sharing--
    }
    return sharing > 0 ? bytes / sharing : 0
  }

  get #left(): number {
    return this.#maxBytes - this.#spent
  }
}
