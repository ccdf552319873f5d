import type { CalendarPeriod } from './calendar-periods.ts'

/** Last time that a `Date` can have, in epoch ms. */
export const END_OF_TIME = 8_640_000_000_000_000
const HOUR_MS = 3_600_000

/** The calendar of a balance that does not renew: one period, which has no end. */
export class EndlessPeriod {
  readonly #period: CalendarPeriod = { label: 'always', startsAt: 0, endsAt: END_OF_TIME }

  at(): CalendarPeriod {
    return this.#period
  }

  /** The period needs no look-up. */
  warmUp(): void {}

  between(): number {
    return 0
  }

  following(): CalendarPeriod {
    return this.#period
  }

  startAfter(): number {
    return END_OF_TIME
  }

  /** Returns the start of the hour in UTC that contains an instant, in epoch ms. */
  hourAt(epochMs: number): number {
    return Math.floor(epochMs / HOUR_MS) * HOUR_MS
  }

  /** Returns the end of the hour in UTC that contains an instant, in epoch ms. */
  sameHourUntil(epochMs: number): number {
    return this.hourAt(epochMs) + HOUR_MS
  }
}
