import { Temporal } from '@js-temporal/polyfill'
import type { PolicyCalendar } from '@sluice/limiter-core/backend'
export interface CalendarPeriod {
  readonly label: string
  readonly startsAt: number
  readonly endsAt: number
}
export class CalendarPeriods {
  readonly #c: PolicyCalendar
  #last: CalendarPeriod | undefined
  constructor(c: PolicyCalendar) {
    this.#c = c
  }
  at(ms: number): CalendarPeriod {
    if (this.#last && ms >= this.#last.startsAt && ms < this.#last.endsAt) return this.#last
    const d = Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(this.#c.timeZone).toPlainDate()
    const start =
      this.#c.per === 'month' ? d.with({ day: 1 }) : this.#c.per === 'day' ? d : d.subtract({ days: d.dayOfWeek - 1 })
    const end = start.add(this.#c.per === 'month' ? { months: 1 } : this.#c.per === 'day' ? { days: 1 } : { days: 7 })
    this.#last = {
      label: start.toString(),
      startsAt: start.toZonedDateTime(this.#c.timeZone).epochMilliseconds,
      endsAt: end.toZonedDateTime(this.#c.timeZone).epochMilliseconds,
    }
    return this.#last
  }
  before(p: CalendarPeriod): CalendarPeriod {
    return new CalendarPeriods(this.#c).at(p.startsAt - 1)
  }
  after(p: CalendarPeriod): CalendarPeriod {
    return new CalendarPeriods(this.#c).at(p.endsAt)
  }
  hourAt(ms: number): number {
    return Math.floor(ms / 3600000) * 3600000
  }
}
