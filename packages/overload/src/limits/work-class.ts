/** Weight of the last duration in the mean. */
const WEIGHT = 0.2
/** Completed work after which it is known how long work of a class takes. */
const LEAST_ENDED = 10
const SHORTEST_MS = 1
/** Work is overdue after this time, and after this many durations of its class. */
const [OVERDUE_MS, OVERDUE] = [100, 5]
/** Least overdue work that shows anything. */
const LEAST_OVERDUE = 4
/** Part of the delay of a class that other work may have at most: if all work is late, no class is the cause. */
const OTHER_DELAY = 1 / 3
/** Mean duration, in durations of before, up to which a class is no longer late. */
const RECOVERED = 2
/** Completed work after which a class may be no longer late. */
const LEAST_RECOVERED = 5

/** Running work. */
interface Running {
  readonly startedAt: number
  /** Work of its class that had ended when this work began. */
  readonly endedBefore: number
}

/** Requests that take about equally long, such as those of one route: how long they take, and once took. */
export class WorkClass {
  #ended = 0
  #meanMs: number | undefined
  #shortestMs = Number.POSITIVE_INFINITY

  /** Number of works that have ended. */
  get ended(): number {
    return this.#ended
  }

  /** Whether it is known how long work of the class takes. */
  get isKnown(): boolean {
    return this.#ended >= LEAST_ENDED
  }

  /** Mean duration of work in ms; 0 if none has ended. */
  get meanMs(): number {
    return this.#meanMs ?? 0
  }

  /** Time in ms that work takes longer than such work once did, in the mean. */
  get delayMs(): number {
    return this.isKnown ? Math.max(0, this.meanMs - this.#shortestMs) : 0
  }

  /** Takes into account that work has ended. Returns the time in ms that it took longer than such work once did. */
  addEnded(durationMs: number): number {
    // a clock that was set back does not show how long the work took
    if (!(durationMs >= 0)) return 0
    this.#ended++
    this.#meanMs = this.#meanMs === undefined ? durationMs : this.#meanMs + WEIGHT * (durationMs - this.#meanMs)
    if (this.isKnown) this.#shortestMs = Math.max(SHORTEST_MS, Math.min(this.#meanMs, this.#shortestMs))
    return this.isKnown ? Math.max(0, durationMs - this.#shortestMs) : 0
  }

  /**
   * Whether most of the work that began in the last moments is overdue, while other work is not late. `works`: running
   * work of the class, in the order in which it began.
   */
  isLate(works: readonly Running[], now: number, otherDelayMs: number): boolean {
    const overdue = this.overdue(works, now)
    const least = Math.max(LEAST_OVERDUE, Math.ceil(works.length / 2))
    const first = overdue[overdue.length - least]
    // as much has ended since then as is overdue: some work lasts long, such as event streams
    if (!first || this.#ended - first.endedBefore >= least) return false
    return otherDelayMs < OTHER_DELAY * (now - first.startedAt - this.#shortestMs)
  }

  /** Returns the running work that takes much longer than such work once did. */
  overdue(works: readonly Running[], now: number): readonly Running[] {
    const overdueMs = Math.max(OVERDUE_MS, OVERDUE * this.#shortestMs)
    return works.filter(({ startedAt }) => now - startedAt >= overdueMs)
  }

  /** Whether work takes as long as it once did. `endedBefore`: work that had ended when it did not. */
  hasRecovered(endedBefore: number): boolean {
    return this.#ended - endedBefore >= LEAST_RECOVERED && this.meanMs <= RECOVERED * this.#shortestMs
  }
}
