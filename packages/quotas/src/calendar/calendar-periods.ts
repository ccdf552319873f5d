import { Temporal } from '@js-temporal/polyfill'
import type { PolicyCalendar } from '@sluice/limiter-core/backend'
import { LocalHours } from './local-hours.ts'

const DAY_MS = 86_400_000
/** Half the length of a period, by which a period may be longer until it meets the periods of another zone. */
const HALF_MS = { day: DAY_MS / 2, week: 3.5 * DAY_MS, month: 14 * DAY_MS } as const
/** Length of a day on which clocks are set forward. No day is shorter because its key is in another zone. */
const SHORT_DAY_MS = 23 * 3_600_000
/** Maximum number of gaps between periods whose number of periods is kept. */
const MAX_KEPT = 1_000

/** A day, week or month of a time zone, from `startsAt` (inclusive) to `endsAt` (exclusive), in epoch ms. */
export interface CalendarPeriod {
  /**
   * Local date on which the period begins, e.g. `2026-11-01`. It does not depend on the time zone data of a process. A
   * period that lies between the periods of two zones has the date on which most of it lies.
   */
  readonly label: string
  readonly startsAt: number
  readonly endsAt: number
}

/**
 * The periods of a calendar, which follow each other without gaps. Each period begins at `resetAt` of its date, by
 * default at midnight: the earlier one if there are two, and the next instant of the date if clocks skip it. Dates that
 * the time zone skipped have no period. Times are epoch ms; invalid times and times after the year 271821 throw a
 * `RangeError`.
 */
export class CalendarPeriods {
  readonly #calendar: PolicyCalendar
  readonly #hours: LocalHours
  #last: CalendarPeriod | undefined
  /** Numbers of periods in gaps, by their start and end. */
  readonly #counts = new Map<string, number>()

  /** `calendar` must have been validated by `compilePolicy`. */
  constructor(calendar: PolicyCalendar) {
    this.#calendar = calendar
    this.#hours = new LocalHours(calendar.timeZone)
  }

  /** Returns the period that contains an instant. The last period is cached. */
  at(epochMs: number): CalendarPeriod {
    const last = this.#last
    if (last && last.startsAt <= epochMs && epochMs < last.endsAt) return last
    let period = this.#beginningAt(this.#firstDate(this.#dateAt(epochMs)))
    // after the first midnight of a date, clocks may be set back to the previous date
    while (epochMs >= period.endsAt) period = this.after(period)
    while (epochMs < period.startsAt) period = this.before(period)
    this.#last = period
    return period
  }

  /**
   * Returns the period that contains an instant, after a period that ended at `endedAt` and may belong to another zone.
   * Periods between the two zones are longer than usual, by less than half a period, or shorter: days by at most an
   * hour, weeks and months by less than 27 hours.
   */
  following(endedAt: number, epochMs: number): CalendarPeriod {
    let startsAt = endedAt
    while (!this.#isStart(startsAt)) {
      const endsAt = this.#endFrom(startsAt)
      if (epochMs < endsAt) return { label: this.at((startsAt + endsAt) / 2).label, startsAt, endsAt }
      startsAt = endsAt
    }
    return this.at(epochMs)
  }

  /** Returns the start of the period `count` periods after one, which may belong to another zone. `count`: from 1. */
  startAfter({ endsAt }: Pick<CalendarPeriod, 'endsAt'>, count: number): number {
    let startsAt = endsAt
    for (let left = count - 1; left > 0; left--) {
      if (this.#isStart(startsAt)) return this.later(this.at(startsAt), left).startsAt
      startsAt = this.#endFrom(startsAt)
    }
    return startsAt
  }

  /** Looks up an instant, so that the next one near it is fast. Ignores instants out of range. */
  warmUp(epochMs: number): void {
    try {
      this.at(epochMs)
      this.hourAt(epochMs)
    } catch {
      // requests use the database's clock, which may be right
    }
  }

  /** Returns the previous period. */
  before(period: CalendarPeriod): CalendarPeriod {
    let date = Temporal.PlainDate.from(period.label)
    let before: CalendarPeriod
    do {
      date = this.#firstDate(date.subtract({ days: 1 }))
      before = this.#beginningAt(date)
    } while (before.startsAt === before.endsAt)
    return before
  }

  /**
   * Returns the number of periods between two that follow each other. The earlier one may belong to another calendar.
   * Numbers are kept, because keys that were unused for the same time ask for the same one at each request.
   */
  between({ endsAt }: Pick<CalendarPeriod, 'endsAt'>, later: Pick<CalendarPeriod, 'startsAt'>): number {
    if (endsAt >= later.startsAt) return 0
    const gap = `${endsAt} ${later.startsAt}`
    const count = this.#counts.get(gap) ?? this.#countIn(endsAt, later.startsAt)
    if (this.#counts.size === MAX_KEPT) this.#counts.clear()
    this.#counts.set(gap, count)
    return count
  }

  /** Returns the period `count` periods after one; if a zone skips its date, an empty one. */
  later(period: Pick<CalendarPeriod, 'label'>, count: number): CalendarPeriod {
    const { per, anchor = 1 } = this.#calendar
    const date = Temporal.PlainDate.from(period.label)
    if (per === 'month') return this.#beginningAt(anchoredIn(date.with({ day: 1 }).add({ months: count }), anchor))
    return this.#beginningAt(date.add({ days: per === 'week' ? 7 * count : count }))
  }

  /** Returns the next period. */
  after(period: CalendarPeriod): CalendarPeriod {
    let date = Temporal.PlainDate.from(period.label)
    let after: CalendarPeriod
    do {
      date = this.#nextDate(date)
      after = this.#beginningAt(date)
    } while (after.startsAt === after.endsAt)
    return after
  }

  /**
   * Returns the start of the local hour that contains an instant, in epoch ms. In most zones, a repeated hour is two
   * hours, and an hour in which a period begins is two hours.
   */
  hourAt(epochMs: number): number {
    const hour = this.#hours.startAt(epochMs)
    return this.#calendar.resetAt === undefined ? hour : Math.max(hour, this.at(epochMs).startsAt)
  }

  /**
   * Returns a later instant, in epoch ms, before which all instants from `epochMs` are in the same local hour. It is the
   * end of the hour, unless clocks are set back within the hour.
   */
  sameHourUntil(epochMs: number): number {
    const until = this.#hours.sameUntil(epochMs)
    return this.#calendar.resetAt === undefined ? until : Math.min(until, this.at(epochMs).endsAt)
  }

  #isStart(epochMs: number): boolean {
    return this.at(epochMs).startsAt === epochMs
  }

  /** Returns the end of a period that begins at an instant at which no period of this calendar begins. */
  #endFrom(startsAt: number): number {
    const { per } = this.#calendar
    const { endsAt } = this.at(startsAt + HALF_MS[per] - 1)
    return per === 'day' ? Math.max(endsAt, startsAt + SHORT_DAY_MS) : endsAt
  }

  /** Returns the number of periods from the end of a period, which may belong to another zone, until an instant. */
  #countIn(endedAt: number, until: number): number {
    let count = 0
    let startsAt = endedAt
    for (; startsAt < until && !this.#isStart(startsAt); count++) startsAt = this.#endFrom(startsAt)
    return startsAt < until ? count + 1 + this.#distance(this.at(startsAt), this.at(until - 1)) : count
  }

  /** Returns how many periods after another period of this calendar a period begins. */
  #distance(earlier: CalendarPeriod, later: CalendarPeriod): number {
    const [first, last] = [new Date(earlier.label), new Date(later.label)]
    const { per } = this.#calendar
    if (per === 'month') {
      return 12 * (last.getUTCFullYear() - first.getUTCFullYear()) + last.getUTCMonth() - first.getUTCMonth()
    }
    const days = (last.getTime() - first.getTime()) / DAY_MS
    return per === 'week' ? days / 7 : days
  }

  #dateAt(epochMs: number): Temporal.PlainDate {
    const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(epochMs))
    return instant.toZonedDateTimeISO(this.#calendar.timeZone).toPlainDate()
  }

  #beginningAt(date: Temporal.PlainDate): CalendarPeriod {
    return { label: date.toString(), startsAt: this.#startOf(date), endsAt: this.#startOf(this.#nextDate(date)) }
  }

  #startOf(date: Temporal.PlainDate): number {
    const { timeZone, resetAt } = this.#calendar
    if (resetAt === undefined) return date.toZonedDateTime(timeZone).epochMilliseconds
    const time = date.toZonedDateTime({ timeZone, plainTime: resetAt })
    const isSkipped = !time.toPlainTime().equals(resetAt) && time.toPlainDate().equals(date)
    // 'previous' excludes the given instant, so search from just after it
    const start = isSkipped ? time.add({ nanoseconds: 1 }).getTimeZoneTransition('previous') : time
    return (start ?? time).epochMilliseconds
  }

  /** Returns the first date of the period that contains a date. */
  #firstDate(date: Temporal.PlainDate): Temporal.PlainDate {
    const { per, anchor = 1 } = this.#calendar
    if (per === 'day') return date
    if (per === 'week') return date.subtract({ days: (date.dayOfWeek - anchor + 7) % 7 })
    const anchored = anchoredIn(date, anchor)
    const isEarlier = Temporal.PlainDate.compare(date, anchored) < 0
    return isEarlier ? anchoredIn(date.subtract({ months: 1 }), anchor) : anchored
  }

  /** Returns the first date of the period after the one that begins on `date`. */
  #nextDate(date: Temporal.PlainDate): Temporal.PlainDate {
    const { per, anchor = 1 } = this.#calendar
    if (per === 'month') return anchoredIn(date.add({ months: 1 }), anchor)
    return date.add({ days: per === 'week' ? 7 : 1 })
  }
}

/** Returns the anchor date in the month of `date`; the last day of the month if the month is too short. */
function anchoredIn(date: Temporal.PlainDate, anchor: number): Temporal.PlainDate {
  return date.with({ day: anchor }, { overflow: 'constrain' })
}
