/** What waits in the calls of one function, until that function is closed. */
export class Waits {
  #isClosed = false
  readonly #ends = new Set<() => void>()

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Calls `end` when the function is closed. */
  add(end: () => void): void {
    this.#ends.add(end)
  }

  delete(end: () => void): void {
    this.#ends.delete(end)
  }

  close(): void {
    this.#isClosed = true
    const ends = [...this.#ends]
    this.#ends.clear()
    for (const end of ends) end()
  }
}
