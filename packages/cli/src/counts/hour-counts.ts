/** Requests of one hour in UTC. */
export interface HourCount {
  /** Start of the hour, in epoch milliseconds. */
  readonly startsAt: number
  requests: number
  denied: number
}

const HOUR_MS = 3_600_000
/** Five years. Times in a log have no bound. */
const MOST_HOURS = 5 * 366 * 24

/** Counts requests by hour. */
export class HourCounts {
  readonly #hours = new Map<number, HourCount>()
  #last: HourCount | undefined

  /** Requests in hours after the first `MOST_HOURS` are not counted. */
  add(timeMs: number, isDenied: boolean): void {
    const hour = this.#hourOf(timeMs)
    if (!hour) return
    hour.requests++
    if (isDenied) hour.denied++
  }

  /** Returns the hours with requests, the earliest first. */
  sorted(): readonly HourCount[] {
    return [...this.#hours.values()].sort((a, b) => a.startsAt - b.startsAt)
  }

  #hourOf(timeMs: number): HourCount | undefined {
    const last = this.#last
    if (last && timeMs >= last.startsAt && timeMs < last.startsAt + HOUR_MS) return last
    const startsAt = Math.floor(timeMs / HOUR_MS) * HOUR_MS
    let hour = this.#hours.get(startsAt)
    if (!hour) {
      if (this.#hours.size >= MOST_HOURS) return undefined
      hour = { startsAt, requests: 0, denied: 0 }
      this.#hours.set(startsAt, hour)
    }
    this.#last = hour
    return hour
  }
}
