/** Milliseconds between looks at the time. */
const EVERY_MS = 2
/** What a timer may be late without a stall. */
const USUAL_MS = 2

/**
 * Notes when the process did not get to run: the machine gave its core to others, or garbage was collected. What a
 * decision waited for that is not the doing of a limiter.
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

  /** Milliseconds between two readings of `performance.now()` in which nothing could run. */
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
