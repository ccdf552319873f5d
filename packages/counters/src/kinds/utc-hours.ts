import { badOption, integerFrom } from '@sluice/limiter-core/backend'

export interface HourlyOptions {
  /**
   * Number of hours kept separately, the newest included; older hours are merged into their day. 1 to 24 times `days`.
   * Default: 48, or 24 times `days` if that is less.
   */
  readonly hours?: number | undefined
  /** Number of UTC days kept, the newest included; 1 to 1,000. Default: 31. */
  readonly days?: number | undefined
}

/** Validated `HourlyOptions`. */
export interface KeptHours {
  readonly keptHours: number
  readonly keptDays: number
}

export const HOURS = 24
export const MAX_DAYS = 1_000
const HOUR_MS = 3_600_000

/** Throws `SLUICE_BAD_OPTION`. */
export function keptHoursOf(owner: string, { hours, days = 31 }: HourlyOptions): KeptHours {
  const keptDays = integerFrom(`${owner}: days`, days, 1, MAX_DAYS)
  const most = keptDays * HOURS
  return { keptHours: integerFrom(`${owner}: hours`, hours ?? Math.min(48, most), 1, most), keptDays }
}

/** Returns the number of the hour of `now`, in epoch ms, since 1970. Throws `SLUICE_BAD_OPTION`. */
export function hourOf(call: string, now: number): number {
  if (Number.isFinite(now) && Math.abs(now) <= Number.MAX_SAFE_INTEGER) return Math.floor(now / HOUR_MS)
  throw badOption(`${call}: now`, now, 'a time in epoch ms')
}

/** Returns the number of the day of an hour since 1970. */
export function dayOf(hour: number): number {
  return Math.floor(hour / HOURS)
}
