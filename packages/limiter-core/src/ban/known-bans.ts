import { rememberedKey } from './remembered-key.ts'

/** A ban as this process knows it. Times are process times. */
export interface KnownBan {
  until: number
  /** When the ban was last read from the backend. */
  readAt: number
  /** Duration for which a request extends the ban; undefined if it is not known yet. */
  ms: number | undefined
}

const MOST_KEYS = 50_000

/** The banned keys that this process knows of, in bounded memory. A forgotten ban is read from the backend again. */
export class KnownBans {
  readonly #bans = new Map<string, KnownBan>()

  get size(): number {
    return this.#bans.size
  }

  /** Returns the ban of a key; undefined if there is none, or if it is over. */
  get(key: string, now: number): KnownBan | undefined {
    const known = this.#bans.get(rememberedKey(key))
    if (!known || known.until > now) return known
    this.delete(key)
    return undefined
  }

  /** Returns the rest in milliseconds of a ban that was read less than `mostMs` ago; otherwise 0, and forgets the ban. */
  recentMs(key: string, now: number, mostMs: number): number {
    const known = this.get(key, now)
    if (!known) return 0
    if (now - known.readAt < mostMs) return known.until - now
    this.delete(key)
    return 0
  }

  /** Remembers a ban. If there is no room, the ban that was added first is forgotten. */
  set(key: string, ban: KnownBan): void {
    const id = rememberedKey(key)
    if (this.#bans.size >= MOST_KEYS && !this.#bans.has(id)) {
      const [oldest] = this.#bans.keys()
      this.#bans.delete(oldest)
    }
    this.#bans.set(id, ban)
  }

  delete(key: string): void {
    this.#bans.delete(rememberedKey(key))
  }
}
