import { RecentKeys } from './recent-keys.ts'

/** A ban as this process knows it. Times are process times. */
export interface KnownBan {
  until: number
  /** When a request last read the ban from the backend, or began to. */
  readAt: number
  /** Duration for which a request extends the ban; undefined if it is not known yet. */
  ms: number | undefined
}

const MOST_KEYS = 50_000

/** The banned keys that this process knows of. A forgotten ban is read from the backend again. */
export class KnownBans extends RecentKeys<KnownBan> {
  constructor() {
    super(MOST_KEYS)
  }

  /** Returns the ban of a key; undefined if there is none, or if it is over. */
  running(key: string, now: number): KnownBan | undefined {
    const known = this.get(key)
    if (!known || known.until > now) return known
    this.delete(key)
    return undefined
  }

  /** Forgets a ban that a call at `calledAt` did not find, unless it began later. */
  lifted(key: string, calledAt: number): void {
    const known = this.get(key)
    if (known && known.readAt <= calledAt) this.delete(key)
  }

  /** Returns the rest in milliseconds of a ban that was read less than `mostMs` ago; otherwise 0, and forgets the ban. */
  recentMs(key: string, now: number, mostMs: number): number {
    const known = this.running(key, now)
    if (!known) return 0
    if (now - known.readAt < mostMs) return known.until - now
    this.delete(key)
    return 0
  }
}
