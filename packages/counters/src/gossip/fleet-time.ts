/** Ms: beyond it is no time that a fleet has been up for. */
const MOST_MS = 2 ** 50

/**
 * The time that all replicas of a fleet agree on, without wall clocks: each began at 0, and goes on from the largest one
 * that it hears of. So it never steps back, runs as the fastest clock does, and is off by as long as what was heard last
 * was on its way. Where two fleets meet the younger one goes on from the older one's.
 */
export class FleetTime {
  #aheadMs: number

  /** `now` is of the process clock, here and below. */
  constructor(now: number) {
    this.#aheadMs = -now
  }

  at(now: number): number {
    return now + this.#aheadMs
  }

  /** Another replica had this time at `at`. */
  heard(time: number, at: number): void {
    if (time <= MOST_MS) this.#aheadMs = Math.max(this.#aheadMs, time - at)
  }

  /** When the slot of `slotMs` began in which `instant` is. Slots of all replicas begin together. */
  slotStart(instant: number, slotMs: number): number {
    return Math.floor((instant + this.#aheadMs) / slotMs) * slotMs - this.#aheadMs
  }
}
