import { pressureThatRefuses } from './priority-ramps.ts'
import { RecentRequests } from './recent-requests.ts'
import type { SignalRange } from './signal-range.ts'

/** Utilization from which it is not known how much work is waiting. */
const SATURATED = 0.99
/** Part of the admitted share that remains after a sample with a saturated event loop. */
const BACKOFF = 0.7
/** Largest growth of the admitted share in one sample. */
const GROWTH = 1.3
const LEAST_SHARE = 0.001
/** Part of the requests of earlier samples that remains counted. */
const MEMORY = 0.7

/**
 * The pressure of the event loop's utilization. The utilization follows the admitted share of the requests, so the
 * share is corrected by the factor that is missing to the middle of the range.
 */
export class UtilizationPressure {
  readonly #range: SignalRange
  readonly #asked = new RecentRequests()
  #share = 1

  constructor(range: SignalRange) {
    this.#range = range
  }

  count(rank: number): void {
    this.#asked.count(rank)
  }

  rest(): void {
    this.#share = 1
    this.#asked.clear()
  }

  /** Returns the pressure after a sample. `utilization` is from 0 to 1. */
  sample(utilization: number): number {
    const { from, to } = this.#range
    const aim = (from + to) / 2
    const factor = utilization >= SATURATED ? BACKOFF : Math.min(GROWTH, aim / Math.max(utilization, 0.01))
    this.#share = Math.max(LEAST_SHARE, Math.min(1, this.#share * factor))
    const pressure = pressureThatRefuses(this.#asked.total * (1 - this.#share), this.#asked.byRank)
    this.#asked.fade(MEMORY)
    return pressure
  }
}
