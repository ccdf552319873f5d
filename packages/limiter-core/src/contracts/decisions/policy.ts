/** A named limit: at most `limit` units per `windowMs` for each key. Plain data that can be stored and compared. */
export interface Policy {
  readonly name: string
  readonly algorithm: AlgorithmName
  /** Units, an integer from 1 to 999,999,999,999,999. */
  readonly limit: number
  /** Length of the window in milliseconds, an integer of at least 1. */
  readonly windowMs: number
  /** Units that fit at once, for `token-bucket` and `gcra`. Default: `limit`. */
  readonly burst?: number
  /** Slices of the window for `sliding-window`, an integer from 1 to 60. Default: 1, the weighted two-epoch counter. */
  readonly slices?: number
  /** Name of the counted unit in headers and logs. Default: `requests`. */
  readonly unit?: string
  /** Longest time in milliseconds for which units are held, an integer from 1 to 2^31 - 1. Default: no holds. */
  readonly maxHoldMs?: number
  /** `booked`: each denied caller of a key books its own turn. Default: all callers wait until their take would fit. */
  readonly retry?: 'booked'
  /**
   * Calendar of the windows, on backends that support calendars. `windowMs` is the nominal length, used while the
   * backend is unavailable.
   */
  readonly calendar?: PolicyCalendar
}

/** Windows that follow the calendar of a time zone. Each starts at `resetAt`, or at the next instant of its day. */
export interface PolicyCalendar {
  readonly per: 'day' | 'week' | 'month'
  /** IANA time zone name, such as `UTC` or `Europe/Berlin`. With `zoneOf`, the zone of keys whose zone is not known. */
  readonly timeZone: string
  /** Returns the time zone of a key; undefined if it is not known. Default: all keys have `timeZone`. */
  readonly zoneOf?: (key: string) => string | undefined
  /** Local time at which periods start, `HH:MM` from 00:00 to 23:59. Default: midnight. */
  readonly resetAt?: string
  /**
   * First day of a period. Default: 1. For months from 1 to 31, where a shorter month uses its last day; for weeks from
   * 1 (Monday) to 7. Not allowed for days.
   */
  readonly anchor?: number
  /** Maximum number of unused units that are added to the next period, an integer of 0 or more. Default: 0. */
  readonly carryOver?: number
}

export type AlgorithmName = 'fixed-window' | 'sliding-window' | 'sliding-log' | 'token-bucket' | 'gcra'
