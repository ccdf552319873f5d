/** Something that holds bytes of a budget and can give some back. */
export interface Spender {
  readonly bytes: number
  /** Frees some bytes; false when it has no more than it must. */
  shrink(): boolean
}

/** One limit of bytes for several arenas. Each may claim an equal share, whoever came first. */
export class Budget {
  readonly #maxBytes: number
  /** What all of them share and none can give back. */
  readonly #shared: { readonly bytes: number }
  readonly #spenders: Spender[] = []

  constructor(maxBytes: number, shared: { readonly bytes: number }) {
    this.#maxBytes = maxBytes
    this.#shared = shared
  }

  join(spender: Spender): void {
    this.#spenders.push(spender)
  }

  /** Whether `bytes` more are free, without anyone giving some back. */
  spare(bytes: number): boolean {
    return this.#used() + bytes <= this.#maxBytes
  }

  /** Whether `bytes` more are within the fair share of `spender`. */
  owes(spender: Spender, bytes: number): boolean {
    return spender.bytes + bytes <= (this.#maxBytes - this.#shared.bytes) / this.#spenders.length
  }

  /** Whether `spender` may take `bytes` more; makes room at the cost of the largest where its fair share is larger. */
  grant(spender: Spender, bytes: number): boolean {
    if (this.spare(bytes)) return true
    if (!this.owes(spender, bytes)) return false
    while (!this.spare(bytes)) {
      const largest = this.#spenders.reduce((a, b) => (b.bytes > a.bytes ? b : a))
      const before = largest.bytes
      if (largest === spender || !largest.shrink() || largest.bytes >= before) return false
    }
    return true
  }

  #used(): number {
    return this.#spenders.reduce((sum, spender) => sum + spender.bytes, this.#shared.bytes)
  }
}
