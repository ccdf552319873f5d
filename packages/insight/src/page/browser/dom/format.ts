import { durationText } from '../../../duration-text.ts'
import { tenths, whole } from '../../../number-text.ts'

export { count } from '../../../number-text.ts'

const hundredths = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const minute = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats a rate; with one decimal below 10. */
export function rate(perSecond: number): string {
  return `${(perSecond < 10 ? tenths : whole).format(perSecond)}/s`
}

export function percent(share: number): string {
  const value = share * 100
  return value > 0 && value < 0.1 ? '< 0.1\u00a0%' : `${tenths.format(value)}\u00a0%`
}

export function milliseconds(value: number | null): string {
  if (value === null) return '–'
  return value < SECOND ? `${tenths.format(value)}\u00a0ms` : duration(value)
}

/** Formats a duration like `durationText`, with non-breaking spaces. */
export function duration(ms: number): string {
  return durationText(ms).replaceAll(' ', '\u00a0')
}

/** Formats a window: `minute`, `10 seconds`, `1.5 hours`. */
export function windowText(ms: number): string {
  const [unit, name] = (
    [
      [DAY, 'day'],
      [HOUR, 'hour'],
      [MINUTE, 'minute'],
      [SECOND, 'second'],
      [1, 'millisecond'],
    ] as const
  ).find(([size]) => ms >= size) ?? [1, 'millisecond']
  return ms === unit ? name : `${tenths.format(ms / unit)} ${name}s`
}

export function bytes(value: number): string {
  return `${whole.format(value / 1e6)}\u00a0MB`
}

/** Formats the value of a metric in the unit that its name ends in. */
export function amountText(metric: string, value: number): string {
  if (metric.endsWith('_ms')) return milliseconds(value)
  if (metric.endsWith('_bytes')) return value < 1e6 ? `${tenths.format(value / 1e3)}\u00a0kB` : bytes(value)
  return Math.abs(value) < 10 ? hundredths.format(value) : tenths.format(value)
}

export function timeText(at: number): string {
  return time.format(new Date(at))
}

export function minuteText(at: number): string {
  return minute.format(new Date(at))
}

export function dateTimeText(at: number): string {
  return dateTime.format(new Date(at))
}

/** Returns the UTC time for tooltips. */
export function utcText(at: number): string {
  return `${new Date(at).toISOString().replace('T', ' ').slice(0, 19)} UTC`
}
