import { retryAfterMs } from '@sluice/limiter-core/http'
import { exhaustedMs } from './rate-limit-field.ts'

/** The fields of a response. */
export interface ResponseFields {
  get(name: string): string | null
}

const ZERO = /^0+$/
const SECONDS = /^\d{1,15}(?:\.\d{1,3})?$/
/** Numbers from which on a reset is an epoch time in seconds (the year 2001), and in milliseconds. */
const [EPOCH_S, EPOCH_MS] = [1e9, 1e12]
/** Prefixes of the fields from before `RateLimit`, in the order in which they are read. */
const LEGACY = ['ratelimit', 'x-ratelimit']

/**
 * Returns the milliseconds for which a response asks to receive no requests, 0 for none: `Retry-After` of a refusal,
 * which is for this client and takes precedence, then `RateLimit`, then `RateLimit-Remaining` and `X-RateLimit-Remaining`
 * of 0 with the matching `-Reset`. `wallMs` is the current epoch time.
 */
export function askedWaitMs(fields: ResponseFields, isRefusal: boolean, wallMs: number): number {
  const after = isRefusal ? retryAfterMs(fields.get('retry-after') ?? '', wallMs) : undefined
  if (after !== undefined) return after
  const rateLimit = fields.get('ratelimit')
  return rateLimit === null ? legacyMs(fields, wallMs) : exhaustedMs(rateLimit)
}

function legacyMs(fields: ResponseFields, wallMs: number): number {
  for (const prefix of LEGACY) {
    const remaining = fields.get(`${prefix}-remaining`)
    if (remaining === null) continue
    return ZERO.test(remaining.trim()) ? resetMs(fields.get(`${prefix}-reset`) ?? '', wallMs) : 0
  }
  return 0
}

/** A reset is in seconds from now, or an epoch time in seconds or milliseconds. Returns 0 if it is malformed. */
function resetMs(field: string, wallMs: number): number {
  const text = field.trim()
  if (!SECONDS.test(text)) return 0
  const reset = Number(text)
  if (reset < EPOCH_S) return reset * 1_000
  return Math.max(0, (reset < EPOCH_MS ? reset * 1_000 : reset) - wallMs)
}
