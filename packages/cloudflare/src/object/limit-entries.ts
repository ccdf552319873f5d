import { type EntryOf, LimitEntry } from '@sluice/fleet/backend'
import { type LimitStorage, MAX_KEYS } from './limit-storage.ts'

/** Number of entries that an object keeps in memory while no request needs them. */
const MAX_CACHED = 2_000

/**
 * Stored entries of an object by name. While requests use an entry, all of them use the same instance, and its state in
 * memory is never older than the stored state. Decisions are exact even if the storage lets requests interleave.
 */
export class LimitEntries {
  readonly #storage: LimitStorage
  readonly #entries = new Map<string, LimitEntry>()
  readonly #users = new Map<string, number>()
  #pinsAll = 0

  constructor(storage: LimitStorage) {
    this.#storage = storage
  }

  /** Calls `run` when all entries are in memory. `run` must be synchronous. */
  async use<T>(names: readonly string[], run: (entryOf: EntryOf) => T): Promise<T> {
    const entryOf: EntryOf = (name) => this.#entries.get(name) as LimitEntry
    if (names.every((name) => this.#entries.has(name))) return run(entryOf)
    for (const name of names) this.#users.set(name, (this.#users.get(name) ?? 0) + 1)
    try {
      await this.#load(names.filter((name) => !this.#entries.has(name)))
      return run(entryOf)
    } finally {
      for (const name of names) {
        const users = (this.#users.get(name) as number) - 1
        if (users === 0) this.#users.delete(name)
        else this.#users.set(name, users)
      }
      this.#evict()
    }
  }

  /** Calls `run` while no entry is removed from memory. */
  async pinned<T>(run: () => Promise<T>): Promise<T> {
    this.#pinsAll++
    try {
      return await run()
    } finally {
      this.#pinsAll--
      this.#evict()
    }
  }

  /** Returns an entry if it is in memory. */
  cached(name: string): LimitEntry | undefined {
    return this.#entries.get(name)
  }

  /** Removes an entry from memory. Returns false if a request needs it. */
  remove(name: string): boolean {
    if (this.#users.has(name)) return false
    this.#entries.delete(name)
    return true
  }

  async #load(names: readonly string[]): Promise<void> {
    for (let from = 0; from < names.length; from += MAX_KEYS) {
      const some = names.slice(from, from + MAX_KEYS)
      const found = await this.#storage.get(some)
      // another request may have loaded and changed an entry meanwhile
      for (const name of some) if (!this.#entries.has(name)) this.#entries.set(name, new LimitEntry(found.get(name)))
    }
  }

  #evict(): void {
    if (this.#pinsAll > 0) return
    for (const name of this.#entries.keys()) {
      if (this.#entries.size <= MAX_CACHED) return
      if (!this.#users.has(name)) this.#entries.delete(name)
    }
  }
}
