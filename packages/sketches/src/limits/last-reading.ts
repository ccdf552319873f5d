import type { Clock, Moment } from '@sluice/limiter-core'

/** What time it is: what callers say, else what the backend's own clock says. */
export class LastReading {
  /** In ms. */
  now = 0
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Reads the time anew. */
  read(moment: Moment | undefined): number {
    this.now = this.at(moment)
    return this.now
  }

  /** As `read`, for a question that changes nothing. A reading that is no number is as good as none. */
  at(moment: Moment | undefined): number {
    const given = moment?.now ?? this.#clock.now()
    const now = isReading(given) ? given : this.#clock.now()
    return isReading(now) ? now : this.now
  }

  /**
   * By the own clock, if it has gone on from the last reading by less than `withinMs`; else the last one: who
   * hands in the time may read another clock, which this one must not move.
   */
  own(withinMs: number): number {
    const now = this.#clock.now()
    return now > this.now && now < this.now + withinMs ? now : this.now
  }
}

function isReading(now: unknown): boolean {
  return typeof now === 'number' && Math.abs(now) <= Number.MAX_SAFE_INTEGER
}
