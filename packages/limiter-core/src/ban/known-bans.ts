/** A ban as this process knows it. Times are process times. */
export interface KnownBan {
  until: number
  /** When the ban was last read from the backend. */
  readAt: number
  /** Duration for which a request extends the ban; undefined if it is not known yet. */
  ms: number | undefined
}

const MOST_KEYS = 50_000
/** Length of the longest key, in UTF-16 units, so that the memory is bounded in bytes. Longer keys are not remembered. */
const LONGEST_KEY = 128

/** The banned keys that this process knows of, in bounded memory. A forgotten ban is read from the backend again. */
export class KnownBans {
  readonly #bans = new Map<string, KnownBan>()

  get size(): number {
    return this.#bans.size
  }

  /** Returns the ban of a key; undefined if there is none, or if it is over. */
  get(key: string, now: number): KnownBan | undefined {
    const known = this.#bans.get(key)
    if (!known || known.until > now) return known
    this.#bans.delete(key)
    return undefined
  }

  /** Returns the rest in milliseconds of a ban that was read less than `mostMs` ago; otherwise 0, and forgets the ban. */
  recentMs(key: string, now: number, mostMs: number): number {
    const known = this.get(key, now)
    if (!known) return 0
    if (now - known.readAt < mostMs) return known.until - now
    this.#bans.delete(key)
    return 0
  }

  /** Remembers a ban. If there is no room, the ban that was added first is forgotten. */
  set(key: string, ban: KnownBan): void {
    if (key.length > LONGEST_KEY) return
    if (this.#bans.size >= MOST_KEYS && !this.#bans.has(key)) {
      const [oldest] = this.#bans.keys()
      this.#bans.delete(oldest)
    }
    this.#bans.set(key, ban)
  }

  delete(key: string): void {
    this.#bans.delete(key)
  }
}
