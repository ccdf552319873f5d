const MONTHS: ReadonlyMap<string, number> = new Map(
  ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'].map((name, at) => [name, at]),
)
/** Length of `17/May/2015:10:05:03 +0000`. */
const LOCAL_TIME_LENGTH = 26
const ZERO = 48
/** Seconds since 1970 are smaller than this until the year 2286, and milliseconds are larger since 1970-04-26. */
const LARGEST_SECONDS = 1e10
/** Largest time of a JavaScript date, in milliseconds. */
const LARGEST_MS = 8.64e15
const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/

/** Reads times of log lines. Keeps the last day, because most lines are of the same day as the line before. */
export class AccessTime {
  #day = ''
  #dayMs = Number.NaN

  /**
   * Returns the epoch milliseconds of a time as Apache and nginx write it: `17/May/2015:10:05:03 +0000`. Returns NaN for
   * other texts, and for days and times that do not exist. A leap second is the last second of its minute.
   */
  ofLocalTime(text: string): number {
    if (text.length !== LOCAL_TIME_LENGTH) return Number.NaN
    const day = text.slice(0, 11)
    if (day !== this.#day) {
      this.#dayMs = dayMsOf(day)
      this.#day = day
    }
    const hours = twoDigits(text, 12)
    const minutes = twoDigits(text, 15)
    const seconds = twoDigits(text, 18)
    const isShaped = text[11] === ':' && text[14] === ':' && text[17] === ':' && text[20] === ' '
    if (!isShaped || !(hours < 24 && minutes < 60 && seconds <= 60)) return Number.NaN
    const sinceMidnightMs = ((hours * 60 + minutes) * 60 + Math.min(seconds, 59)) * 1000
    return this.#dayMs + sinceMidnightMs - zoneMsOf(text)
  }
}

/**
 * Returns the epoch milliseconds of a time in a JSON log: a number or text of seconds or milliseconds since 1970, an
 * ISO 8601 date and time (UTC without a zone), or a time as Apache writes it. Returns NaN for other values.
 */
export function epochMsOf(value: unknown, local: AccessTime): number {
  if (typeof value === 'number') return ofNumber(value)
  if (typeof value !== 'string') return Number.NaN
  if (ISO_TIME.test(value)) return ofIsoTime(value)
  const isNumber = value !== '' && value.trim() === value && !Number.isNaN(Number(value))
  return isNumber ? ofNumber(Number(value)) : local.ofLocalTime(value)
}

function ofNumber(value: number): number {
  const ms = Math.abs(value) < LARGEST_SECONDS ? value * 1000 : value
  return Math.abs(ms) <= LARGEST_MS ? Math.round(ms) : Number.NaN
}

function ofIsoTime(text: string): number {
  const isZoned = /(Z|[+-]\d\d:?\d\d)$/.test(text.slice(10))
  return Date.parse(`${text.replace(' ', 'T').replace(',', '.')}${isZoned ? '' : 'Z'}`)
}

/** Returns the epoch milliseconds at which `17/May/2015` starts in UTC; NaN if there is no such day. */
function dayMsOf(day: string): number {
  const date = twoDigits(day, 0)
  const month = MONTHS.get(day.slice(3, 6))
  const year = twoDigits(day, 7) * 100 + twoDigits(day, 9)
  if (month === undefined || day[2] !== '/' || day[6] !== '/' || Number.isNaN(date + year)) return Number.NaN
  // Date.UTC takes years below 100 as those of the 20th century
  const startsAt = new Date(0).setUTCFullYear(year, month, date)
  return new Date(startsAt).getUTCDate() === date ? startsAt : Number.NaN
}

/** Returns the offset of the zone, `+0200`, in milliseconds. */
function zoneMsOf(text: string): number {
  const sign = text[21] === '+' ? 1 : text[21] === '-' ? -1 : Number.NaN
  return sign * (twoDigits(text, 22) * 60 + twoDigits(text, 24)) * 60_000
}

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO
  const ones = text.charCodeAt(at + 1) - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}
