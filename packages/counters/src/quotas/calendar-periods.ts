import { Temporal } from '@js-temporal/polyfill'
import type { PolicyCalendar } from '@sluice/limiter-core/backend'
import { LocalHours } from './local-hours.ts'

/** A day, week or month of a time zone: from `startsAt` up to and without `endsAt`, in epoch ms. */
export interface CalendarPeriod {
  /** The local date on which it begins, such as `2026-11-01`: the same by the zone data of every process. */
  readonly label: string
  readonly startsAt: number
  readonly endsAt: number
}

/**
 * The periods of a calendar. They tile time: each begins with the first instant of its date, where that has no midnight
 * the first one after it, where it has two the earlier one. A date that a zone skipped has no day of its own. Times are
 * epoch ms; those that are none, or are beyond the year 271821, throw a `RangeError`.
 */
export class CalendarPeriods {
  readonly #calendar: PolicyCalendar
  readonly #hours: LocalHours
  #last: CalendarPeriod | undefined

  /** `calendar` is one that was checked: `compilePolicy` does it. */
  constructor(calendar: PolicyCalendar) {
    this.#calendar = calendar
    this.#hours = new LocalHours(calendar.timeZone)
  }

  /** The period that holds an instant. One that holds the last instant that was asked for costs nothing. */
  at(epochMs: number): CalendarPeriod {
    const last = this.#last
    if (last && last.startsAt <= epochMs && epochMs < last.endsAt) return last
    let period = this.#beginningAt(this.#firstDate(this.#dateAt(epochMs)))
    // a clock may go back to the date before, after the first midnight of a date
    while (epochMs >= period.endsAt) period = this.after(period)
    while (epochMs < period.startsAt) period = this.before(period)
    this.#last = period
    return period
  }

  /** The one that ends when this one begins. */
  before(period: CalendarPeriod): CalendarPeriod {
    let date = Temporal.PlainDate.from(period.label)
    let before: CalendarPeriod
    do {
      date = this.#firstDate(date.subtract({ days: 1 }))
      before = this.#beginningAt(date)
    } while (before.startsAt === before.endsAt)
    return before
  }

  /** The one that begins when this one ends. */
  after(period: CalendarPeriod): CalendarPeriod {
    let date = Temporal.PlainDate.from(period.label)
    let after: CalendarPeriod
    do {
      date = this.#nextDate(date)
      after = this.#beginningAt(date)
    } while (after.startsAt === after.endsAt)
    return after
  }

  /** When the local hour began that holds an instant, in epoch ms. An hour that is repeated is two, in most zones. */
  hourAt(epochMs: number): number {
    return this.#hours.startAt(epochMs)
  }

  #dateAt(epochMs: number): Temporal.PlainDate {
    const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(epochMs))
    return instant.toZonedDateTimeISO(this.#calendar.timeZone).toPlainDate()
  }

  #beginningAt(date: Temporal.PlainDate): CalendarPeriod {
    return { label: date.toString(), startsAt: this.#startOf(date), endsAt: this.#startOf(this.#nextDate(date)) }
  }

  #startOf(date: Temporal.PlainDate): number {
    return date.toZonedDateTime(this.#calendar.timeZone).epochMilliseconds
  }

  /** The first date of the period that has this one. */
  #firstDate(date: Temporal.PlainDate): Temporal.PlainDate {
    const { per, anchor = 1 } = this.#calendar
    if (per === 'day') return date
    if (per === 'week') return date.subtract({ days: (date.dayOfWeek - anchor + 7) % 7 })
    const anchored = anchoredIn(date, anchor)
    const isEarlier = Temporal.PlainDate.compare(date, anchored) < 0
    return isEarlier ? anchoredIn(date.subtract({ months: 1 }), anchor) : anchored
  }

  /** The first date of the period after the one that begins with this date. */
  #nextDate(date: Temporal.PlainDate): Temporal.PlainDate {
    const { per, anchor = 1 } = this.#calendar
    if (per === 'month') return anchoredIn(date.add({ months: 1 }), anchor)
    return date.add({ days: per === 'week' ? 7 : 1 })
  }
}

/** The date of the same month on which its period begins: its last one where it is too short. */
function anchoredIn(date: Temporal.PlainDate, anchor: number): Temporal.PlainDate {
  return date.with({ day: anchor }, { overflow: 'constrain' })
}
