import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'
import { MAX_TIMER_MS } from './clock.ts'

type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd'

/** `'500ms' | '10s' | '1m' | '1h' | '1d'`, or milliseconds as a number of at least 1,000. */
export type Duration = `${number}${DurationUnit}` | number

const MS: Readonly<Record<DurationUnit, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const SHAPE = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

/**
 * Returns the milliseconds of a duration. Throws `SLUICE_BAD_DURATION` for a number below 1,000, because 60 is
 * usually a mistake for 60 seconds (write `'60ms'` otherwise), and for a duration that is not a whole number of
 * milliseconds.
 */
export function parseDuration(value: unknown, option: string): number {
  const ms = typeof value === 'string' ? textMs(value) : bareMs(value)
  if (ms === undefined || !Number.isSafeInteger(ms) || ms < 1) {
    throw new SluiceError(
      'SLUICE_BAD_DURATION',
      `${option}: expected '500ms', '10s', '1m', '1h', '1d' or a whole number of ms from 1000, received ${shown(value, option)}`,
    )
  }
  return ms
}

/**
 * Returns the milliseconds of an option such as `maxWaitMs`: a number of 0 or more, or a duration. Throws
 * `SLUICE_BAD_DURATION`.
 */
export function parseMs(value: unknown, option: string): number {
  const ms = typeof value === 'string' ? wholeTextMs(value) : value
  if (typeof ms === 'number' && ms >= 0 && ms <= Number.MAX_SAFE_INTEGER) return ms
  throw new SluiceError(
    'SLUICE_BAD_DURATION',
    `${option}: expected ms from 0, or '500ms', '10s', '1m', received ${shown(value, option)}`,
  )
}

/**
 * Returns the milliseconds of an option for which 0 would mean "no limit": from 1 to the longest timer, or a
 * duration. Throws `SLUICE_BAD_DURATION`.
 */
export function parseTimerMs(value: unknown, option: string): number {
  const ms = typeof value === 'string' ? wholeTextMs(value) : value
  if (typeof ms === 'number' && ms >= 1 && ms <= MAX_TIMER_MS) return ms
  throw new SluiceError(
    'SLUICE_BAD_DURATION',
    `${option}: expected ms from 1 to ${MAX_TIMER_MS}, or '500ms', '10s', '1m', received ${shown(value, option)}`,
  )
}

/** Returns undefined if the string is not a duration of at least one whole millisecond. */
function wholeTextMs(value: string): number | undefined {
  const ms = textMs(value)
  return Number.isSafeInteger(ms) && Number(ms) >= 1 ? ms : undefined
}

function textMs(value: string): number | undefined {
  const match = SHAPE.exec(value)
  if (!match) return undefined
  const ms = Number(match[1]) * MS[match[2] as DurationUnit]
  // 4.35 s are 4350 ms, and not 4350.000000000001
  return Number.isInteger(ms) ? ms : Number(ms.toPrecision(15))
}

function bareMs(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 1_000 ? value : undefined
}
