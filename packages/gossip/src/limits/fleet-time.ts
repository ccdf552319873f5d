/** Maximum fleet time in ms. Larger values are ignored: no fleet has been running that long. */
const MAX_MS = 2 ** 50

/**
 * Time in ms that all replicas of a fleet share, independent of wall clocks. Each replica starts at 0 and advances to
 * the largest time that it receives. The time therefore never goes back, runs at the rate of the fastest clock, and
 * lags behind by the transit time of the last message. When two fleets meet, the younger one adopts the time of the
 * older one.
 */
export class FleetTime {
  #aheadMs: number

  /** All arguments called `now`, `at` and `instant` are process times. */
  constructor(now: number) {
    this.#aheadMs = -now
  }

  at(now: number): number {
    return now + this.#aheadMs
  }

  /** Records that another replica had this fleet time at process time `at`. */
  synchronize(time: number, at: number): void {
    if (time <= MAX_MS) this.#aheadMs = Math.max(this.#aheadMs, time - at)
  }

  /**
   * Returns when the slot of `slotMs` that contains `instant` started. Slots start at the same time in all replicas.
   */
  slotStart(instant: number, slotMs: number): number {
    return Math.floor((instant + this.#aheadMs) / slotMs) * slotMs - this.#aheadMs
  }
}
