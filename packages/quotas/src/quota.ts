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
  /** Policy name: printable ASCII, at most 128 characters. Default: `quota`. */
  readonly name?: string | undefined
  /**
   * Units included in each period, an integer from 1 to 999,999,999,999,999. Units carried over or topped up come on
   * top.
   */
  readonly limit: number
  /** Length of a period. */
  readonly per: PolicyCalendar['per']
  /**
   * IANA time zone of the periods, or a function that returns the zone of each key, e.g. from a table in memory. If it
   * returns undefined, throws, or returns no zone, the key keeps the zone of its last period; a new key has `UTC`. A key
   * whose zone changes keeps the end of its period. Default: `UTC`.
   */
  readonly timeZone?: string | ((key: string) => string | undefined) | undefined
  /** Local time at which periods begin, `HH:MM` from `00:00` to `23:59`. Default: midnight. */
  readonly resetAt?: string | undefined
  /**
   * First day of a period: 1 to 31 for months, or the last day of shorter months; 1 (Monday) to 7 for weeks. Default:
   * 1.
   */
  readonly anchor?: number | undefined
  /** Maximum number of unused units carried over to the next period, an integer. Default: 0. */
  readonly carryOver?: number | undefined
  /**
   * Longest time for which `Limiter.hold` holds units, from 1 ms to 24 days: milliseconds, or a duration such as
   * `'10m'`. A quota with holds is not leased: each take is one call to the database. Default: units cannot be held.
   */
  readonly maxHoldMs?: Duration | undefined
  /** Backend that keeps calendars, from `createQuotas`. */
  readonly backend: Backend
  /** Name of the counted unit, for headers and logs. Default: `requests`. */
  readonly unit?: string | undefined
  /** Limits of individual keys that replace `limit`, from `limitOverrides`. */
  readonly overrides?: LimitOverrides | undefined
  /** Policy mode. Default: `enforce`. */
  readonly mode?: PolicyInput['mode'] | undefined
}

const QUOTA_OPTIONS: readonly (keyof QuotaOptions)[] = [
  'name',
  'limit',
  'per',
  'timeZone',
  'resetAt',
  'anchor',
  'carryOver',
  'maxHoldMs',
  'backend',
  'unit',
  'overrides',
  'mode',
]

/** Options of the policy in a limiter, by where they belong. */
const PLACES = { 'beside the quota: { ...quota({ … }), key, cost }': ['key', 'cost'] } as const

/** Approximate maximum length of each period; days and weeks are an hour longer if clocks are set back. */
const WINDOWS: Readonly<Record<PolicyCalendar['per'], Duration>> = { day: '25h', week: '169h', month: '31d' }

/**
 * Creates a policy of at most `limit` units in each day, week or month of a time zone, e.g. 50,000 calls a month. A
 * period begins at `resetAt` of its local date, so a day may have 23 or 25 hours. A monthly period anchored
 * at a day that a month does not have begins on the last day of that month. While the backend is unavailable, failure
 * rules that count in this process use a window of 25 hours, 7 days and an hour, or 31 days.
 *
 * Throws `SLUICE_BAD_OPTION` for an unknown option, period or mode and for a backend that keeps no calendars,
 * `SLUICE_BAD_LIMIT`, `SLUICE_BAD_NAME`, `SLUICE_BAD_DURATION` for `maxHoldMs`, and `SLUICE_BAD_POLICY` for an unknown
 * time zone, a `resetAt` that is not a time, an anchor that the period does not have (days have none) and a `carryOver`
 * that is negative or not an integer.
 */
export function quota(options: QuotaOptions): PolicyInput {
  const known = optionsOf('quota', options, QUOTA_OPTIONS, PLACES)
  const { name = 'quota', limit, per, timeZone = 'UTC', backend, ...more } = known
  const { resetAt, anchor, carryOver, maxHoldMs, unit, overrides, mode } = more
  if (!Object.hasOwn(WINDOWS, per)) throw badOption('quota: per', per, "one of 'day', 'week', 'month'")
  checkBackend(backend)
  const policy: PolicyInput = {
    name,
    limit,
    window: WINDOWS[per],
    calendar: {
      per,
      ...(typeof timeZone === 'function' ? { timeZone: 'UTC', zoneOf: timeZone } : { timeZone }),
      ...(resetAt !== undefined && { resetAt }),
      ...(anchor !== undefined && { anchor }),
      ...(carryOver !== undefined && { carryOver }),
    },
    backend,
    ...(maxHoldMs !== undefined && { maxHoldMs }),
    ...(unit !== undefined && { unit }),
    ...(overrides !== undefined && { overrides }),
    ...(mode !== undefined && { mode }),
  }
  // validated here, so that the stack trace points to the mistake and not to the creation of the limiter
  compilePolicy(policy)
  return policy
}

function checkBackend(backend: unknown): void {
  const given = backend as Partial<Backend> | null | undefined
  if (typeof given?.open === 'function' && given.keepsCalendars === true) return
  const received = typeof given?.open === 'function' ? 'a backend that keeps no calendars' : kindOf(backend)
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `quota: backend: expected a backend from createQuotas(), received ${received}`,
  )
}
