/** Something that holds bytes of a budget and can give some back. */
export interface Spender {
  readonly bytes: number
  /** Frees some bytes; false when it has no more than it must. */
  shrink(): boolean
}

/** One limit of bytes for several arenas. Each may claim an equal share, whoever came first. */
export class Budget {
  readonly maxBytes: number
  readonly #spenders: Spender[] = []

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  join(spender: Spender): void {
    this.#spenders.push(spender)
  }

  get usedBytes(): number {
    return this.#spenders.reduce((sum, spender) => sum + spender.bytes, 0)
  }

  /** Whether `spender` may take `bytes` more; makes room at the cost of the largest where its fair share is larger. */
  grant(spender: Spender, bytes: number): boolean {
    if (this.usedBytes + bytes <= this.maxBytes) return true
    if (spender.bytes + bytes > this.maxBytes / this.#spenders.length) return false
    while (this.usedBytes + bytes > this.maxBytes) {
      const largest = this.#spenders.reduce((a, b) => (b.bytes > a.bytes ? b : a))
      if (largest === spender || !largest.shrink()) return false
    }
    return true
  }
}
