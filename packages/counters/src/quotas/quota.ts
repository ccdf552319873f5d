import type { LimitOverrides } from '@sluice/limiter-core'
import {
  type Backend,
  badOption,
  compilePolicy,
  type Duration,
  kindOf,
  optionsOf,
  type PolicyCalendar,
  type PolicyInput,
  SluiceError,
} from '@sluice/limiter-core/backend'

export interface QuotaOptions {
  /** As of any policy: printable ASCII, at most 128 characters; default: `quota`. */
  readonly name?: string | undefined
  /** Whole units in each period, 1 to 999,999,999,999,999. What is carried over, or bought on top, comes besides. */
  readonly limit: number
  /** How long a period is. */
  readonly per: PolicyCalendar['per']
  /** Whose midnights begin it: a name of the IANA time zone database; default: `UTC`. */
  readonly timeZone?: string | undefined
  /** Its first day. Of months 1 to 31, where a shorter month has its last day; of weeks 1, Monday, to 7; default: 1. */
  readonly anchor?: number | undefined
  /** Whole units that are left at the end of a period and come on top in the next one, at most; default: 0. */
  readonly carryOver?: number | undefined
  /** Where it is counted: one that keeps calendars. */
  readonly backend: Backend
  /** What is counted, for headers and logs; default: `requests`. */
  readonly unit?: string | undefined
  /** Limits of single keys in the place of `limit`: what `limitOverrides` makes. */
  readonly overrides?: LimitOverrides | undefined
  /** As of any policy; default: `enforce`. */
  readonly mode?: PolicyInput['mode']
}

const QUOTA_OPTIONS: readonly (keyof QuotaOptions)[] = [
  'name',
  'limit',
  'per',
  'timeZone',
  'anchor',
  'carryOver',
  'backend',
  'unit',
  'overrides',
  'mode',
]

/** About the longest period of each: a day and a week have an hour more where clocks are set back. */
const WINDOWS: Readonly<Record<PolicyCalendar['per'], Duration>> = { day: '25h', week: '169h', month: '31d' }

/**
 * A policy of at most `limit` units in each day, week or month of a time zone: 50,000 calls a month, beside 100 a second
 * on the same request. A period begins with the first instant of its local date, so that a day may have 23 or 25 hours;
 * a month from day 31 on begins on the last day of those that are shorter. While the backend does not answer, a failure
 * rule that counts here takes a window of 25 hours, of 7 days and an hour, or of 31 days.
 *
 * Throws `SLUICE_BAD_OPTION` for an unknown option, period or mode and for a backend that keeps no calendars,
 * `SLUICE_BAD_LIMIT`, `SLUICE_BAD_NAME`, and `SLUICE_BAD_POLICY` for an unknown time zone, an anchor that the period does
 * not have (a day has none) and a `carryOver` below 0 or of parts of units.
 */
export function quota(options: QuotaOptions): PolicyInput {
  const { name = 'quota', limit, per, timeZone = 'UTC', backend, ...more } = optionsOf('quota', options, QUOTA_OPTIONS)
  const { anchor, carryOver, unit, overrides, mode } = more
  if (!Object.hasOwn(WINDOWS, per)) throw badOption('quota: per', per, "one of 'day', 'week', 'month'")
  keepsCalendars(backend)
  const policy: PolicyInput = {
    name,
    limit,
    window: WINDOWS[per],
    calendar: { per, timeZone, ...(anchor !== undefined && { anchor }), ...(carryOver !== undefined && { carryOver }) },
    backend,
    ...(unit !== undefined && { unit }),
    ...(overrides !== undefined && { overrides }),
    ...(mode !== undefined && { mode }),
  }
  // where the mistake is, and not where the limiter is built
  compilePolicy(policy)
  return policy
}

function keepsCalendars(backend: unknown): void {
  const given = backend as Partial<Backend> | null | undefined
  if (typeof given?.open === 'function' && given.keepsCalendars === true) return
  const got = typeof given?.open === 'function' ? 'one that keeps no calendars' : kindOf(backend)
  throw new SluiceError('SLUICE_BAD_OPTION', `quota: backend: expected one of quotas, received ${got}`)
}
