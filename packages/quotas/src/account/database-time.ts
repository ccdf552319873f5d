import type { Clock } from '@sluice/limiter-core/backend'

/** The database's time, according to the process clock and the last reply of the database. */
export class DatabaseTime {
  readonly #clock: Clock
  #offsetMs: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Time of the database in epoch ms, or slightly earlier; undefined before its first reply. */
  get now(): number | undefined {
    return this.#offsetMs === undefined ? undefined : this.#clock.now() + this.#offsetMs
  }

  /** Difference between the database's time and the process clock in ms, or slightly less. */
  get offsetMs(): number {
    return this.#offsetMs ?? this.#clock.wall() - this.#clock.now()
  }

  /** Accepts the time in a reply, in epoch ms. */
  replied(now: number): void {
    this.#offsetMs = now - this.#clock.now()
  }
}
