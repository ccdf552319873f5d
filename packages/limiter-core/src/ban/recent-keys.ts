import { rememberedKey } from './remembered-key.ts'

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
