import { badOption } from '@sluice/limiter-core/backend'
import { wholeWithin } from '../counter-options.ts'

export interface HourlyOptions {
  /** So many hours are kept apart, the newest included; older ones are part of their day. 1 to 24 times `days`. Default: 48, or all. */
  readonly hours?: number | undefined
  /** So many days are kept, of 24 hours from midnight in UTC, the newest included; 1 to 1,000. Default: 31. */
  readonly days?: number | undefined
}

/** The same options, checked. */
export interface KeptHours {
  readonly keptHours: number
  readonly keptDays: number
}

export const HOURS = 24
export const MOST_DAYS = 1_000
const HOUR_MS = 3_600_000

/** Throws `SLUICE_BAD_OPTION`. */
export function keptHoursOf(owner: string, { hours, days = 31 }: HourlyOptions): KeptHours {
  const keptDays = wholeWithin(`${owner}: days`, days, MOST_DAYS)
  const most = keptDays * HOURS
  return { keptHours: wholeWithin(`${owner}: hours`, hours ?? Math.min(48, most), most), keptDays }
}

/** Number of the hour of `now`, epoch ms, since 1970. Throws `SLUICE_BAD_OPTION`. */
export function hourOf(call: string, now: number): number {
  if (Number.isFinite(now) && Math.abs(now) <= Number.MAX_SAFE_INTEGER) return Math.floor(now / HOUR_MS)
  throw badOption(`${call}: now`, now, 'a time in epoch ms')
}

/** Number of the day of an hour. */
export function dayOf(hour: number): number {
  return Math.floor(hour / HOURS)
}
