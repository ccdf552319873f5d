/** Runs reads one after another, so that the text of an earlier read never replaces the text of a later one. */
export class SerialReads {
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0

  /** Number of reads that have not ended. */
  get pending(): number {
    return this.#pending
  }

  run<T>(read: () => Promise<T>): Promise<T> {
    this.#pending++
    const ended = (): void => {
      this.#pending--
    }
    const next = this.#last.then(read, read)
    this.#last = next.then(ended, ended)
    return next
  }
}
