/** Something that spends bytes of a budget and can give some back. */
export interface Spender {
  readonly bytes: number
  /** One page: the least that it has where it has a live key. */
  readonly pageBytes: number
  /** Gives back bytes that no live key needs, of one part of itself at a time; false where that has none. */
  release(tick: number): boolean
  /** Gives back some bytes at the cost of live keys; false when it has one page alone. */
  shrink(tick: number): boolean
}

/** A look that found nothing is repeated with the next tick, or after so many that were wanted for each spender. */
const LOOKS_EVERY = 64
/** Pages that a shard, or one cut in two, grows by where chance leaves a key without a place. */
const BY_CHANCE = 2
/** Of the largest pages: a shard grows by four at once. */
const RESERVED_PAGES = 4 + BY_CHANCE
/** At most this part of the budget is the reserve. */
const RESERVE = 1 / 16

/**
 * One limit of bytes for several arenas. Each may claim an equal share, whoever came first, and bytes of expired keys
 * go to whoever needs them. What is claimed comes from a reserve, which is filled again in policies, so that no insert
 * waits for many keys to be moved.
 */
export class Budget {
  readonly #maxBytes: number
  /** Those with the largest pages first. */
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

  /** To be told of all bytes that are taken and, below 0, given back. */
  spend(bytes: number): void {
    this.#spent += bytes
  }

  /** Whether `bytes` more are left, be it of the reserve. */
  has(bytes: number): boolean {
    return this.#left >= bytes
  }

  /** Whether `bytes` more are left beside the reserve. */
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
   * How many of so many pages `spender` may take, no fewer than half of them: of what is spare; within its share of the
   * reserve, and of what others have above theirs; beyond it of what others have for expired keys.
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

  /** Whether so much is spare, or is once expired keys were looked for; if need be for what chance may want besides. */
  #uncovers(spender: Spender, bytes: number, tick: number): boolean {
    const roomy = bytes + BY_CHANCE * spender.pageBytes
    if (!this.spare(roomy) && !this.isLow && this.#mayLook(tick)) {
      while (!this.spare(roomy) && this.#release(tick, spender)) this.#lookedAt = 0
    }
    return this.spare(bytes)
  }

  /** Fills the reserve again: with what expired keys hold, else by a policy, with what the largest has above its share. */
  refill(tick: number, but?: Spender): void {
    // a look that finds nothing is dear, a claim is not: a reserve that is left low is spent by the growths that follow
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

  /** Looks at each other once at most, first at the one that had something the last time. */
  #release(tick: number, but?: Spender): boolean {
    for (let left = this.#spenders.length; left > 0; left--) {
      this.#turn %= this.#spenders.length
      const one = this.#spenders[this.#turn]
      if (one !== but && one.release(tick)) return true
      this.#turn++
    }
    return false
  }

  /** Has the largest of those above their share give some back. */
  #claim(tick: number): boolean {
    const share = this.#share
    let largest: Spender | undefined
    for (const one of this.#spenders) {
      if (one.bytes > Math.max(share, one.pageBytes, largest?.bytes ?? 0)) largest = one
    }
    return largest?.shrink(tick) === true
  }

  /** An equal part of the budget, less what those take of whom one page is more. */
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
