import { BoundedKeys } from './bounded-keys.ts'
import { KeyUsage } from './key-usage.ts'
import type { Usage } from './usage-item.ts'

/** Maximum number of keys shared by one replica, for this replica and for each other one. */
const MAX_SHARED = 20_000
/** Maximum number of keys shared by all other replicas together. */
const MAX_OF_OTHERS = 400_000

/** Units that all replicas took of all keys, in bounded memory. */
export class UsageTable {
  readonly #keys = new Map<string, KeyUsage>()
  readonly #own: BoundedKeys
  readonly #shared = new BoundedKeys(MAX_SHARED)
  /** Number of keys by replica. */
  readonly #counts = new Map<string, number>()
  #ofOthers = 0

  /** `mostOwn`: maximum number of keys for which the units of this process are kept. */
  constructor(mostOwn: number) {
    this.#own = new BoundedKeys(mostOwn)
  }

  get ownKeys(): number {
    return this.#own.size
  }

  get sharedKeys(): number {
    return this.#shared.size
  }

  /** Number of keys of all other replicas; a key of several replicas counts several times. */
  get keysOfOthers(): number {
    return this.#ofOthers
  }

  get(id: string): KeyUsage | undefined {
    return this.#keys.get(id)
  }

  /** Returns the usage of a key of which this process takes units now. May evict another key. */
  own(id: string): KeyUsage {
    const usage = this.#made(id)
    const gone = this.#own.use(id, this.#ownUnits)
    if (gone !== undefined) this.forgetOwn(gone)
    return usage
  }

  /** Shares a key. Returns true if another key is no longer shared because of that. */
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

  /** Forgets units that this process took so long ago that they no longer count. */
  forgetOld(now: number): void {
    for (let id = this.#own.oldest(); id !== undefined; id = this.#own.oldest()) {
      const usage = this.#keys.get(id)
      if (usage && now - usage.takenAt <= usage.keptMs) return
      this.forgetOwn(id)
    }
  }

  /** Stores the usage reported by another replica. Returns undefined if there is no room. */
  putOther(id: string, replica: string, usage: Usage): KeyUsage | undefined {
    const known = this.#keys.get(id)
    const count = this.#counts.get(replica) ?? 0
    if (!known?.others.has(replica)) {
      if (count >= MAX_SHARED || this.#ofOthers >= MAX_OF_OTHERS) return undefined
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
