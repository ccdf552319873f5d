const WINDOW_MS = 1_000
/** The first calls of a client are counted over at least this time. */
const LEAST_MS = 100

/** Rate at which the application calls, also for requests that are not sent: that of the last second. */
export class CallRate {
  perMs = 0
  #calls = 0
  #sinceMs = -Infinity
  #lastMs = -Infinity

  /** Returns the ms since the last call. */
  idleMs(now: number): number {
    return now - this.#lastMs
  }

  reset(now: number): void {
    this.perMs = this.#calls = 0
    this.#sinceMs = now
  }

  /** Counts a call. Returns whether it begins a new second. */
  count(now: number): boolean {
    this.#lastMs = now
    this.#calls++
    const ms = now - this.#sinceMs
    if (ms < WINDOW_MS) {
      this.perMs = Math.max(this.perMs, this.#calls / Math.max(ms, LEAST_MS))
      return false
    }
    this.perMs = this.#calls / ms
    this.#calls = 0
    this.#sinceMs = now
    return true
  }
}
