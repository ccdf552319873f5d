/** Admitted units by the time of their admission. */
export class Spends {
  readonly #times: number[] = []
  readonly #units: number[] = []
  total = 0

  add(time: number, units: number): void {
    this.#times.push(time)
    this.#units.push(units)
    this.total += units
  }

  /** The largest number of units in any window of this length. */
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

  /** The largest excess over the refill rate in any interval. A bucket guarantees that it is at most the burst. */
  worstBurst(perMs: number): number {
    let worst = 0
    // units above the rate since the start of the worst interval so far
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
