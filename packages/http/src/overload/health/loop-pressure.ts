import { pressureThatRefuses } from './priority-ramps.ts'
import { RecentRequests } from './recent-requests.ts'
import { positionIn, type SignalRange } from './signal-range.ts'

/** Milliseconds over which arrivals are averaged. */
const ARRIVALS_MS = 150
/** Milliseconds over which the cost of requests is averaged: several times the duration of a request with its waits. */
const COSTS_MS = 500
/** Growth of what is admitted, per 100 ms of time left, in a runtime that does not measure how long the loop works. */
const [RECOVERY, RECOVERY_MS] = [1.5, 100]
/** Requests per millisecond that are always admitted, so that the capacity can be measured again. */
const LEAST_CAPACITY = 0.01
/** Milliseconds without a late beat after which there is no overload. */
const CALM_MS = 1_000
/** Pressure that the requests of a short time can cause. Critical requests are refused only if the delay is long. */
const MOST_BY_LOAD = 0.8
/** Part of the range of delays from which critical requests are refused, too. */
const CRITICAL_FROM = 0.5
/** Number of average requests that a late turn is longer than: one long request is not an overload. */
const LEAST_REQUESTS = 4
/** What passes per request that the process can work on: the first number without delay, falling to the second one. */
const [MOST_PASSING, LEAST_PASSING] = [1.2, 0.2]

/**
 * The pressure of the event loop's delay.
 *
 * While turns are late, as many requests pass as the process can work on, most important first. What it can work on is
 * the number of admitted requests per millisecond of work in the last moments. So the share that is refused follows
 * from measurements and does not have to be searched, which oscillates. The delay only corrects it: less passes while
 * turns are longer than `from`, and more while they are shorter. In the first late turns, in which the arrivals are not
 * known yet, requests are refused by the time that the present turn has taken.
 */
export class LoopPressure {
  readonly #range: SignalRange
  readonly #asked = new RecentRequests()
  /** Milliseconds that `#asked` stands for. */
  #askedMs = 0
  #admittedSinceBeat = 0
  #admitted = 0
  /** Milliseconds of work on `#admitted` requests. */
  #workMs = 0
  /** Growth of the capacity since it was measured. */
  #growth = 1
  #lateMs = 0
  #lateInARow = 0
  #calmMs = CALM_MS
  #byLoad = 0

  constructor(range: SignalRange) {
    this.#range = range
  }

  count(rank: number, isAdmitted: boolean): void {
    this.#asked.count(rank)
    if (isAdmitted) this.#admittedSinceBeat++
  }

  /** Called at each beat. `workMs`: time that the event loop worked since the last beat; undefined if it is unknown. */
  beat(lateMs: number, elapsedMs: number, workMs: number | undefined): void {
    this.#measure(lateMs, elapsedMs, workMs)
    const { from } = this.#scaled()
    this.#lateMs = lateMs
    this.#lateInARow = lateMs >= from ? this.#lateInARow + 1 : 0
    this.#calmMs = this.#lateInARow > 0 ? 0 : this.#calmMs + elapsedMs
    this.#askedMs += elapsedMs
    this.#byLoad = this.#calmMs < CALM_MS ? this.#pressureByLoad() : 0
    const remaining = Math.exp(-elapsedMs / ARRIVALS_MS)
    this.#asked.fade(remaining)
    this.#askedMs *= remaining
  }

  /** Forgets the load when there are no requests any longer. */
  rest(): void {
    this.#asked.clear()
    this.#askedMs = 0
    this.#admittedSinceBeat = 0
    this.#lateInARow = 0
    this.#calmMs = CALM_MS
    this.#byLoad = 0
  }

  /** Returns the pressure when the present beat is late by `overdueMs`. */
  at(overdueMs: number): number {
    if (this.#lateInARow === 0) return this.#byLoad
    return Math.max(this.#byLoad, Math.sqrt(positionIn(this.#scaled(), overdueMs)))
  }

  #measure(lateMs: number, elapsedMs: number, workMs: number | undefined): void {
    const admitted = this.#admittedSinceBeat
    this.#admittedSinceBeat = 0
    // without a measurement, the event loop is known to have worked only in a late turn
    const isKnown = workMs !== undefined || lateMs >= this.#range.from / 2
    this.#growth = isKnown ? 1 : this.#growth * RECOVERY ** (elapsedMs / RECOVERY_MS)
    if (!isKnown) return
    const remaining = Math.exp(-elapsedMs / COSTS_MS)
    this.#admitted = this.#admitted * remaining + admitted
    this.#workMs = this.#workMs * remaining + (workMs ?? elapsedMs)
  }

  #pressureByLoad(): number {
    const { from, to } = this.#scaled()
    const capacity = Math.max(LEAST_CAPACITY, (this.#growth * this.#admitted) / this.#workMs)
    const passing = MOST_PASSING - (MOST_PASSING - 1) * (this.#lateMs / from)
    const passed = capacity * Math.max(LEAST_PASSING, passing) * this.#askedMs
    const pressure = pressureThatRefuses(this.#asked.total - passed, this.#asked.byRank)
    return this.#lateMs < from + (to - from) * CRITICAL_FROM ? Math.min(MOST_BY_LOAD, pressure) : pressure
  }

  /** The range of delays, longer for a process whose requests take long. */
  #scaled(): SignalRange {
    const { from, to } = this.#range
    const leastMs = this.#admitted > 0 ? (LEAST_REQUESTS * this.#workMs) / this.#admitted : 0
    return leastMs <= from ? this.#range : { from: leastMs, to: (leastMs * to) / from }
  }
}
