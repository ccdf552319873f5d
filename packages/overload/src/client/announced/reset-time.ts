const NUMBER = /^\d{1,15}(?:\.\d{1,9})?$/
/** Numbers from which on a reset is an epoch time in seconds (the year 2001), and in milliseconds. */
const [EPOCH_S, EPOCH_MS] = [1e9, 1e12]
/** A duration of Go, as OpenAI writes it: `120ms`, `1m2.5s`, `1h0m3s`. */
const DURATION =
  /^(?=\d)(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1_000, 1]
/** RFC 3339, and the date of RFC 9110 without its obsolete forms. */
const DATE =
  /^(?:\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/

/**
 * Returns the milliseconds until a reset that a field announces as seconds from now, as an epoch time in seconds or
 * milliseconds, as a duration or as a date. Undefined if it is malformed; 0 if it is in the past. `wallMs` is the epoch
 * time at the server.
 */
export function resetAfterMs(field: string | null, wallMs: number): number | undefined {
  const text = field?.trim() ?? ''
  if (NUMBER.test(text)) {
    const reset = Number(text)
    if (reset < EPOCH_S) return reset * 1_000
    return Math.max(0, (reset < EPOCH_MS ? reset * 1_000 : reset) - wallMs)
  }
  const parts = DURATION.exec(text)
  if (parts) return UNITS_MS.reduce((ms, unitMs, at) => ms + unitMs * Number(parts[at + 1] ?? 0), 0)
  const dateMs = DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - wallMs)
}
