// RFC 9110 section 5.6.7, without its two obsolete forms
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Returns the milliseconds of a `Retry-After` field, which may be Infinity. `wallMs` is the current epoch time. Returns
 * undefined if the field is malformed.
 */
export function retryAfterMs(field: string, wallMs: number): number | undefined {
  const text = field.trim()
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const dateMs = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - wallMs)
}
