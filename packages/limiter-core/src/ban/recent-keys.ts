import { createKeyedHash, type KeyedHash } from '../keyed-hash/index.ts'

/** Length of the longest key that is stored itself, in UTF-16 units, so that the memory is bounded in bytes. */
const LONGEST_KEY = 128
let hash: KeyedHash | undefined

/** Values of keys in bounded memory. If there is no room for a key, the key that was added first is forgotten. */
export class RecentKeys<T> {
  readonly #values = new Map<string, T>()
  readonly #most: number

  /** `most`: largest number of keys. */
  constructor(most: number) {
    this.#most = most
  }

  get(key: string): T | undefined {
    return this.#values.get(rememberedKey(key))
  }

  set(key: string, value: T): void {
    const id = rememberedKey(key)
    if (this.#values.size >= this.#most && !this.#values.has(id)) {
      const [oldest] = this.#values.keys()
      this.#values.delete(oldest)
    }
    this.#values.set(id, value)
  }

  delete(key: string): void {
    this.#values.delete(rememberedKey(key))
  }
}

/** Returns a key as this process remembers it: a long key by its hash, of 64 bits. */
function rememberedKey(key: string): string {
  if (key.length <= LONGEST_KEY) return key
  // not while modules are loaded, where Workers forbid random numbers
  hash ??= createKeyedHash()
  hash.text(key)
  return `\0${hash.low} ${hash.high}`
}
