/** A named promise: at most `limit` units per `windowMs` for each key. Data only: logged, stored, compared, written in YAML. */
export interface Policy {
  readonly name: string
  readonly algorithm: AlgorithmName
  /** Whole units, at least 1. */
  readonly limit: number
  /** Milliseconds, at least 1. */
  readonly windowMs: number
  /** token-bucket and gcra: how many units fit at once; default: `limit`. */
  readonly burst?: number
  /** sliding-window: into how many slices the window is cut; 1 is the weighted two-epoch counter. */
  readonly slices?: number
  /** Name of the unit. Default: `requests`. */
  readonly unit?: string
  /**
   * Calendar of the windows, on backends that support calendars. `windowMs` is the nominal length, used while the
   * backend is unavailable.
   */
  readonly calendar?: PolicyCalendar
}

/** Periods that begin at local midnights of a time zone; each is a window. Where a midnight does not exist, at the first instant of its day. */
export interface PolicyCalendar {
  readonly per: 'day' | 'week' | 'month'
  /** A name of the IANA time zone database: `UTC`, `Europe/Berlin`. */
  readonly timeZone: string
  /**
   * First day of a period. Default: 1. For months 1 to 31, where a shorter month uses its last day; for weeks 1
   * (Monday) to 7. Not allowed for days.
   */
  readonly anchor?: number
  /** Whole units that are left at the end of a period and come on top in the next one, at most; default: 0. */
  readonly carryOver?: number
}

export type AlgorithmName = 'fixed-window' | 'sliding-window' | 'sliding-log' | 'token-bucket' | 'gcra'
