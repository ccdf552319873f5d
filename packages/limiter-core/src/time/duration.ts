import { badValue } from '../errors/bad-option.ts'
import { MAX_TIMER_MS } from './clock.ts'

type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd' | 'w'

/** A duration with a unit, such as `'500ms'`, `'10s'`, `'1m'`, `'1h'`, `'1d'` or `'1w'`, or a number of milliseconds. */
export type Duration = `${number}${DurationUnit}` | number

const DAY_MS = 86_400_000
const MS: Readonly<Record<DurationUnit, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
  w: 7 * DAY_MS,
}
const SHAPE = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/

/**
 * Returns the milliseconds, an integer of at least 1, of a window or interval. Throws `SLUICE_BAD_DURATION` for an
 * invalid duration, and for a number below 1,000: 60 is usually a mistake for 60 seconds, and 60 ms can be written as
 * `'60ms'`.
 */
export function parseDuration(value: unknown, option: string): number {
  const ms = typeof value === 'string' ? textMs(value) : bareMs(value)
  if (ms !== undefined && Number.isSafeInteger(ms) && ms >= 1) return ms
  const expected = "a duration such as '500ms', '10s', '1m', '1h' or '1d', or an integer of at least 1000 (ms)"
  throw badValue('SLUICE_BAD_DURATION', option, value, expected)
}

/** Returns the milliseconds of a duration, or a number from `least` to `most`. Throws `SLUICE_BAD_DURATION`. */
export function parseMs(value: unknown, option: string, least = 0, most: number = Number.MAX_SAFE_INTEGER): number {
  const ms = typeof value === 'string' ? wholeTextMs(value) : value
  if (typeof ms === 'number' && ms >= least && ms <= most) return ms
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  const expected = `a duration such as '500ms' or '10s', or a number ${range} (ms)`
  throw badValue('SLUICE_BAD_DURATION', option, value, expected)
}

/** Like `parseMs`, for an option such as `maxHoldMs`, whose milliseconds are from 1 to 2^31 - 1. */
export function parseTimerMs(value: unknown, option: string): number {
  return parseMs(value, option, 1, MAX_TIMER_MS)
}

/** Returns the milliseconds of a string; undefined if it is not a duration or not an integer of at least 1 ms. */
function wholeTextMs(value: string): number | undefined {
  const ms = textMs(value)
  return Number.isSafeInteger(ms) && Number(ms) >= 1 ? ms : undefined
}

function textMs(value: string): number | undefined {
  const match = SHAPE.exec(value)
  if (!match) return undefined
  const ms = Number(match[1]) * MS[match[2] as DurationUnit]
  // removes the rounding error of the product: '4.35s' is 4350 ms, not 4350.000000000001 ms
  return Number.isInteger(ms) ? ms : Number(ms.toPrecision(15))
}

function bareMs(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 1_000 ? value : undefined
}
