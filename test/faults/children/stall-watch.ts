/** Milliseconds between checks of the clock. */
const EVERY_MS = 2
/** Delay of a timer that does not count as a stall, in milliseconds. */
const USUAL_MS = 2

/**
 * Records when the process was stalled, by other processes or by garbage collection. This time does not count as delay
 * of the limiter.
 */
export class StallWatch {
  readonly #stalls: { readonly from: number; readonly to: number }[] = []
  #lookedAt: number = performance.now()
  #timer: NodeJS.Timeout

  constructor() {
    this.#timer = setInterval(() => this.#look(), EVERY_MS)
  }

  get longestMs(): number {
    return Math.max(0, ...this.#stalls.map(({ from, to }) => to - from))
  }

  /** Milliseconds of stall between two readings of `performance.now()`. */
  within(from: number, to: number): number {
    return this.#stalls.reduce(
      (sum, stall) => sum + Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from)),
      0,
    )
  }

  stop(): void {
    this.#look()
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    const due = this.#lookedAt + EVERY_MS
    if (now - due > USUAL_MS) this.#stalls.push({ from: due, to: now })
    this.#lookedAt = now
  }
}
