/** Time in ms after which the part is halved again if other work is still late, and after which it grows again. */
const [LATE_MS, QUIET_MS] = [500, 5_000]
const [LESS, MORE] = [1 / 2, 1.25]
const LEAST = 0.05

/**
 * Part of its limit that a late class may use. If other work is late too, both may wait for the same thing, such as one
 * pool of connections. The slower class yields then: its part is halved until the other work is in time.
 */
export class YieldedPart {
  #part = 1
  #changedAt = Number.NEGATIVE_INFINITY

  /** Whether the part cannot become less, so that other work is late for another reason. */
  get isLeast(): boolean {
    return this.#part <= LEAST
  }

  /** Records that other work is late. */
  othersLate(now: number): void {
    if (this.#sinceMs(now) < LATE_MS) return
    this.#part = Math.max(LEAST, this.#part * LESS)
    this.#changedAt = now
  }

  /** Returns the places that the class may hold, at least 1. */
  of(limit: number, now: number): number {
    if (this.#part < 1 && this.#sinceMs(now) >= QUIET_MS) {
      this.#part = Math.min(1, this.#part * MORE)
      this.#changedAt = now
    }
    return Math.max(1, Math.floor(limit * this.#part))
  }

  /** Returns the time since the last change. If the clock was set back, it begins again. */
  #sinceMs(now: number): number {
    this.#changedAt = Math.min(this.#changedAt, now)
    return now - this.#changedAt
  }
}
