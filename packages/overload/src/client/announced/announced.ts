import { retryAfterMs } from '@sluice/limiter-core/http'
import type { Budget, ResponseFields } from './budget.ts'
import { vendorBudgets } from './field-sets.ts'
import { rateLimitBudgets } from './rate-limit-field.ts'

/** What a response announces about limits. */
export interface Announced {
  /** Whether a limit or overload was the reason to refuse the request. */
  readonly isRefusal: boolean
  /** Milliseconds for which the server asks to receive no requests; 0 if it does not ask. May be Infinity. */
  readonly waitMs: number
  readonly budgets: readonly Budget[]
  /** False if the server asks not to send the request again. */
  readonly mayRetry: boolean
}

/** Statuses with which servers refuse requests because of a limit, or of overload. */
const REFUSALS = new Set([429, 503])
/** GitHub refuses requests above its limits with this status, which has other reasons, too. */
const FORBIDDEN = 403
const NOTHING: Announced = { isRefusal: false, waitMs: 0, budgets: [], mayRetry: true }
/** Longer fields are ignored. */
const LONGEST_FIELD = 8_192
/** Servers with more limits are taken to be hostile, and the rest of their limits is ignored. */
const MOST_BUDGETS = 16
const DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/
const MILLISECONDS = /^\d{1,15}(?:\.\d{1,9})?$/

/**
 * Reads what a response announces: `retry-after-ms` and `Retry-After` of a refusal, which are for this client and take
 * precedence; then `RateLimit`, or else the fields from before it and those of vendors. A cached response announces
 * nothing. Malformed fields are ignored. `wallMs` is the epoch time of this process; times are compared with the `Date` of
 * the response instead, if it has one.
 */
export function readAnnounced(status: number, headers: ResponseFields, wallMs: number): Announced {
  const fields = { get: (name: string) => shortField(headers.get(name)) }
  if (Number(fields.get('age')) > 0 && !REFUSALS.has(status)) return NOTHING
  const date = fields.get('date') ?? ''
  const serverMs = (DATE.test(date) && Date.parse(date)) || wallMs
  const budgets = budgetsOf(fields, serverMs)
  const exhausted = budgets.filter(({ remaining }) => remaining === 0)
  const after = askedMs(fields, serverMs)
  const isRefusal = REFUSALS.has(status) || (status === FORBIDDEN && (after !== undefined || exhausted.length > 0))
  const resets = Math.max(0, ...exhausted.map(({ resetMs }) => resetMs ?? 0))
  const mayRetry = (fields.get('x-should-retry') ?? fields.get('stripe-should-retry'))?.trim() !== 'false'
  return { isRefusal, waitMs: (isRefusal ? after : undefined) ?? resets, budgets, mayRetry }
}

function budgetsOf(fields: ResponseFields, serverMs: number): readonly Budget[] {
  const rateLimit = fields.get('ratelimit')
  const ofDraft = rateLimit === null ? [] : rateLimitBudgets(rateLimit, fields.get('ratelimit-policy'))
  return (ofDraft.length > 0 ? ofDraft : vendorBudgets(fields, serverMs)).slice(0, MOST_BUDGETS)
}

function askedMs(fields: ResponseFields, wallMs: number): number | undefined {
  const ms = fields.get('retry-after-ms')?.trim() ?? ''
  return MILLISECONDS.test(ms) ? Number(ms) : retryAfterMs(fields.get('retry-after') ?? '', wallMs)
}

function shortField(field: string | null): string | null {
  return field !== null && field.length <= LONGEST_FIELD ? field : null
}
