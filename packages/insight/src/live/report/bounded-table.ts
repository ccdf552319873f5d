import { boundedText } from '../../bounded-text.ts'

/** Name of the shared entry for all names beyond the bound. */
export const OTHER = 'other'

/**
 * Values by name, created on first use. Holds at most `most` values: once it is full, further names share the value of
 * `other`.
 */
export class BoundedTable<T> {
  readonly #values = new Map<string, T>()
  readonly #most: number
  readonly #make: (name: string) => T

  constructor(most: number, make: (name: string) => T) {
    this.#most = most
    this.#make = make
  }

  of(name: string): T {
    return this.#values.get(name) ?? this.#added(name)
  }

  values(): IterableIterator<T> {
    return this.#values.values()
  }

  #added(name: string): T {
    // long names are stored as they are displayed: shortened
    const bounded = boundedText(name)
    const known = this.#values.get(bounded)
    if (known) return known
    const named = this.#values.size - Number(this.#values.has(OTHER))
    if (named < this.#most - 1) return this.#kept(bounded)
    return this.#values.get(OTHER) ?? this.#kept(OTHER)
  }

  #kept(name: string): T {
    const value = this.#make(name)
    this.#values.set(name, value)
    return value
  }
}
