import { badOption, isTimeZone, type PolicyCalendar } from '@sluice/limiter-core/backend'
import { CalendarPeriods } from './calendar-periods.ts'

/** Maximum number of zones whose calendars are kept: all that have a name. */
const MAX_KEPT = 1_000
/** Longest name of a zone, in characters. */
const MAX_NAME = 64

/** The time zone of a key. */
export interface KeyZone {
  /** Undefined if it is not known; the zone of the account's last period then applies. */
  readonly zone: string | undefined
  /** Returns the calendar of the quota in a zone; undefined if this process does not support the zone. */
  readonly periodsIn: (zone: string) => CalendarPeriods | undefined
}

/** Time zones of keys, from the function of a quota, and calendars in the zones that were used last. */
export class KeyZones {
  /** Zone of keys of which only the stored form is known. */
  readonly unknown: KeyZone = { zone: undefined, periodsIn: (zone) => this.#periodsIn(zone) }
  readonly #calendar: PolicyCalendar
  readonly #zoneOf: NonNullable<PolicyCalendar['zoneOf']>
  readonly #failed: (error: unknown) => void
  /** Calendars by the zone in lower case, the least recently added first. */
  readonly #periods = new Map<string, CalendarPeriods>()

  /** `failed` is called if `zoneOf` throws, or returns anything else than a supported zone or undefined. */
  constructor(
    calendar: PolicyCalendar,
    zoneOf: NonNullable<PolicyCalendar['zoneOf']>,
    failed: (error: unknown) => void,
  ) {
    this.#calendar = calendar
    this.#zoneOf = zoneOf
    this.#failed = failed
  }

  of(key: string): KeyZone {
    const zone = this.#returned(key)
    return zone === undefined ? this.unknown : { ...this.unknown, zone }
  }

  #returned(key: string): string | undefined {
    try {
      const zone: unknown = this.#zoneOf(key)
      if (zone === undefined) return undefined
      if (typeof zone === 'string' && zone.length <= MAX_NAME && this.#periodsIn(zone)) return zone
      // the rejection of an asynchronous function would end the process
      if (zone instanceof Promise) zone.catch(() => {})
      throw badOption('quota: timeZone(key)', zone, 'an IANA time zone or undefined')
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }

  #periodsIn(zone: string): CalendarPeriods | undefined {
    const name = zone.toLowerCase()
    const kept = this.#periods.get(name)
    if (kept || !isTimeZone(zone)) return kept
    const periods = new CalendarPeriods({ ...this.#calendar, timeZone: zone })
    const [oldest] = this.#periods.keys()
    if (this.#periods.size === MAX_KEPT) this.#periods.delete(oldest)
    this.#periods.set(name, periods)
    return periods
  }
}
