import { KeyUsage } from './key-usage.ts'
import { RecentKeys } from './recent-keys.ts'
import type { Usage } from './usage-item.ts'

/** Keys that one replica shares at once, its own and each other one. */
const MOST_SHARED = 20_000
/** Of all other replicas together. */
const MOST_OF_OTHERS = 400_000

/** What all replicas took of all keys, in bounded memory. */
export class UsageTable {
  readonly #keys = new Map<string, KeyUsage>()
  readonly #own: RecentKeys
  readonly #shared = new RecentKeys(MOST_SHARED)
  /** Keys, by replica. */
  readonly #counts = new Map<string, number>()
  #ofOthers = 0

  /** `mostOwn`: keys of which this process remembers what it took. */
  constructor(mostOwn: number) {
    this.#own = new RecentKeys(mostOwn)
  }

  get ownKeys(): number {
    return this.#own.size
  }

  get sharedKeys(): number {
    return this.#shared.size
  }

  /** Keys of all others, one of several replicas as often. */
  get keysOfOthers(): number {
    return this.#ofOthers
  }

  get(id: string): KeyUsage | undefined {
    return this.#keys.get(id)
  }

  /** A key of which this process takes, now. Another one may have to go for it. */
  own(id: string): KeyUsage {
    const usage = this.#made(id)
    const gone = this.#own.use(id, this.#ownUnits)
    if (gone !== undefined) this.forgetOwn(gone)
    return usage
  }

  /** Shares a key. True where another one is shared no more. */
  share(id: string): boolean {
    const gone = this.#shared.use(id, this.#ownUnits)
    return gone !== undefined
  }

  isShared(id: string): boolean {
    return this.#shared.has(id)
  }

  forgetOwn(id: string): void {
    this.#own.delete(id)
    this.#shared.delete(id)
    this.#keys.get(id)?.forgetOwn()
    this.#release(id)
  }

  /** Forgets what this process took so long ago that it counts nowhere. */
  forgetOld(now: number): void {
    for (let id = this.#own.oldest(); id !== undefined; id = this.#own.oldest()) {
      const usage = this.#keys.get(id)
      if (usage && now - usage.takenAt <= usage.keptMs) return
      this.forgetOwn(id)
    }
  }

  /** Takes over what another replica took. Undefined where there is no room. */
  heard(id: string, replica: string, usage: Usage): KeyUsage | undefined {
    const known = this.#keys.get(id)
    const count = this.#counts.get(replica) ?? 0
    if (!known?.others.has(replica)) {
      if (count >= MOST_SHARED || this.#ofOthers >= MOST_OF_OTHERS) return undefined
      this.#counts.set(replica, count + 1)
      this.#ofOthers++
    }
    const key = known ?? this.#made(id)
    key.others.set(replica, usage)
    return key
  }

  forgetOther(id: string, replica: string): void {
    if (!this.#keys.get(id)?.others.delete(replica)) return
    this.#ofOthers--
    const count = (this.#counts.get(replica) ?? 1) - 1
    if (count > 0) this.#counts.set(replica, count)
    else this.#counts.delete(replica)
    this.#release(id)
  }

  readonly #ownUnits = (id: string): number => this.#keys.get(id)?.ownUnits ?? 0

  #made(id: string): KeyUsage {
    const known = this.#keys.get(id)
    if (known) return known
    const made = new KeyUsage()
    this.#keys.set(id, made)
    return made
  }

  #release(id: string): void {
    const usage = this.#keys.get(id)
    if (usage && usage.others.size === 0 && !this.#own.has(id)) this.#keys.delete(id)
  }
}
