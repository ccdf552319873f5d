/** Times of the first and the last request of a log. */
export class LogTimes {
  #firstMs = Number.POSITIVE_INFINITY
  #lastMs = Number.NEGATIVE_INFINITY

  /** `timeMs`: epoch milliseconds. */
  add(timeMs: number): void {
    if (timeMs < this.#firstMs) this.#firstMs = timeMs
    if (timeMs > this.#lastMs) this.#lastMs = timeMs
  }

  /** Returns the times in ISO 8601; null without requests. */
  report(): { readonly from: string | null; readonly to: string | null } {
    if (this.#firstMs > this.#lastMs) return { from: null, to: null }
    return { from: new Date(this.#firstMs).toISOString(), to: new Date(this.#lastMs).toISOString() }
  }
}
