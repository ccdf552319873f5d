import { tenths, whole } from './number-text.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats a duration in ms: `8 s`, `3 min`, `2 h 5 min`, `4 d 1 h`. */
export function durationText(ms: number): string {
  if (ms < 10 * SECOND) return `${tenths.format(Math.max(0, ms) / SECOND)} s`
  if (ms < 2 * MINUTE) return `${whole.format(ms / SECOND)} s`
  if (ms < HOUR) return `${whole.format(ms / MINUTE)} min`
  if (ms < DAY) return parts(ms, HOUR, 'h', MINUTE, 'min')
  return parts(ms, DAY, 'd', HOUR, 'h')
}

function parts(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % large) / small)
  return `${Math.floor(ms / large)} ${largeUnit}${rest > 0 ? ` ${rest} ${smallUnit}` : ''}`
}
