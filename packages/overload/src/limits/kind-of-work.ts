/** Weight of the last duration in the mean. */
const WEIGHT = 0.2
/** Factor by which the mean of a kind that has become slower exceeds the shortest mean. */
const SLOWER = 5

/** How long work of a kind lasts: that of a client, or of a priority. */
export class KindOfWork {
  #meanMs: number | undefined
  #shortestMs = Number.POSITIVE_INFINITY

  /** Whether the work lasts much longer than it once did. */
  get isSlower(): boolean {
    return (this.#meanMs ?? 0) > SLOWER * this.#shortestMs
  }

  /** Takes into account that work has ended. Returns whether the kind has become slower by it. */
  ended(durationMs: number): boolean {
    // a clock that was set back does not show how long the work took
    if (!(durationMs >= 0)) return false
    const wasSlower = this.isSlower
    this.#meanMs = this.#meanMs === undefined ? durationMs : this.#meanMs + WEIGHT * (durationMs - this.#meanMs)
    this.#shortestMs = Math.min(this.#shortestMs, this.#meanMs)
    return this.isSlower && !wasSlower
  }
}
