import type { Clock, Moment } from '@sluice/limiter-core'

/** The time of a call: the caller's, or the backend's own clock. */
export class LastReading {
  /** In milliseconds. */
  now = 0
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Reads the time and stores it. */
  read(moment: Moment | undefined): number {
    this.now = this.at(moment)
    return this.now
  }

  /** Like `read`, for a query that changes nothing. A time of NaN is ignored. */
  at(moment: Moment | undefined): number {
    const given = moment?.now ?? this.#clock.now()
    const now = isReading(given) ? given : this.#clock.now()
    return isReading(now) ? now : this.now
  }

  /**
   * Returns the own clock if it is within `withinMs` after the last reading, otherwise the last reading: a caller may
   * use another clock, which the own clock must not change.
   */
  own(withinMs: number): number {
    const now = this.#clock.now()
    return now > this.now && now < this.now + withinMs ? now : this.now
  }
}

function isReading(now: unknown): boolean {
  return typeof now === 'number' && Math.abs(now) <= Number.MAX_SAFE_INTEGER
}
