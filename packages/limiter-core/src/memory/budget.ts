/** Something that spends bytes of a budget and can give some back. */
export interface Spender {
  readonly bytes: number
  /** Bytes of one page, the least that an arena with a live key has. */
  readonly pageBytes: number
  /** Releases bytes that no live key needs, from one part at a time; returns false if there are none. */
  release(tick: number): boolean
  /** Releases bytes by evicting live keys; returns false if only one page is left. */
  shrink(tick: number): boolean
}

/** A look that found nothing is repeated with the next tick, or after so many that were wanted for each spender. */
const LOOKS_EVERY = 64
/** Pages that a shard, or one cut in two, grows by where chance leaves a key without a place. */
const BY_CHANCE = 2
/** Reserve in the largest pages: a shard grows by four pages at once. */
const RESERVED_PAGES = 4 + BY_CHANCE
/** At most this part of the budget is the reserve. */
const RESERVE = 1 / 16

/**
 * One byte limit for several arenas. Each arena may claim an equal share, whichever came first, and the bytes of
 * expired keys go to arenas that need them. Claims are served from a reserve that is refilled in steps, so that no
 * insert waits for many keys to be moved.
 */
export class Budget {
  readonly #maxBytes: number
  /** Arenas with the largest pages first. */
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

  /** Whether `bytes` more are left, be it of the reserve. */
  has(bytes: number): boolean {
    return this.#left >= bytes
  }

  /** Whether `bytes` more are available in addition to the reserve. */
  spare(bytes: number): boolean {
    return this.#left - this.#reserve >= bytes
  }

  /** Whether `bytes` more are within the share of `spender`. */
  owes(spender: Spender, bytes: number): boolean {
    return spender.bytes + bytes <= this.#share
  }

  /** Whether some of the reserve is spent. */
  get isLow(): boolean {
    return this.#left < this.#reserve
  }

  /**
   * Returns how many of `pages` pages `spender` may take, at least half of them or none: from spare bytes; within its
   * share from the reserve and from arenas above their share; beyond its share from expired keys of other arenas.
   */
  grant(spender: Spender, pages: number, tick: number): number {
    const { pageBytes } = spender
    const least = Math.ceil(pages / 2) * pageBytes
    const within = (bytes: number): number => Math.min(pages, Math.floor(bytes / pageBytes))
    if (this.spare(least) || !this.owes(spender, least)) {
      return this.#uncovers(spender, least, tick) ? within(this.#left - this.#reserve) : 0
    }
    while (this.#left < least) if (!this.#release(tick, spender) && !this.#claim(tick)) return 0
    return within(Math.min(this.#left, this.#share - spender.bytes))
  }

  /** Whether the bytes are spare, or become spare after a search for expired keys. */
  #uncovers(spender: Spender, bytes: number, tick: number): boolean {
    const roomy = bytes + BY_CHANCE * spender.pageBytes
    if (!this.spare(roomy) && !this.isLow && this.#mayLook(tick)) {
      while (!this.spare(roomy) && this.#release(tick, spender)) this.#lookedAt = 0
    }
    return this.spare(bytes)
  }

  /** Refills the reserve from expired keys, otherwise by one step from the largest arena above its share. */
  refill(tick: number, but?: Spender): void {
    // a search that finds nothing is expensive, a claim is not: a low reserve would be consumed by the following
    // growths
    let found = this.#mayLook(tick) && this.#release(tick, but)
    while (found && this.isLow) found = this.#release(tick, but)
    if (found || this.#claim(tick)) this.#lookedAt = 0
  }

  #mayLook(tick: number): boolean {
    if (tick === this.#lookedAt && ++this.#looksMissed < LOOKS_EVERY * this.#spenders.length) return false
    this.#lookedAt = tick
    this.#looksMissed = 0
    return true
  }

  /** Searches each arena at most once, starting with the one that had something last time. */
  #release(tick: number, but?: Spender): boolean {
    for (let left = this.#spenders.length; left > 0; left--) {
      this.#turn %= this.#spenders.length
      const one = this.#spenders[this.#turn]
      if (one !== but && one.release(tick)) return true
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

  /** An equal part of the budget, excluding arenas for which one page is more than that. */
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
