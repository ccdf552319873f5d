/** Units that were admitted, by the time of it. */
export class Spends {
  readonly #times: number[] = []
  readonly #units: number[] = []
  total = 0

  add(time: number, units: number): void {
    this.#times.push(time)
    this.#units.push(units)
    this.total += units
  }

  /** The most that any window of this length got. */
  worstWindow(windowMs: number): number {
    let worst = 0
    let sum = 0
    let oldest = 0
    for (const [index, time] of this.#times.entries()) {
      sum += this.#units[index]
      while (this.#times[oldest] <= time - windowMs) sum -= this.#units[oldest++]
      worst = Math.max(worst, sum)
    }
    return worst
  }

  /** The most by which any stretch of time got more than `perMs` gives in it: for a bucket never above its burst. */
  worstBurst(perMs: number): number {
    let worst = 0
    // units above the rate since the stretch that is worst so far
    let above = 0
    let before = this.#times[0] ?? 0
    for (const [index, time] of this.#times.entries()) {
      above = Math.max(0, above - (time - before) * perMs) + this.#units[index]
      before = time
      worst = Math.max(worst, above)
    }
    return worst
  }
}
