import {
  binds,
  type HeaderEntry,
  type HeaderLine,
  type HeaderPlan,
  type HttpDenial,
  ROUNDING_ERROR_MS,
  wholeSeconds,
} from '@sluice/limiter-core/http'

type Vendor = HeaderPlan['vendors'][number]

/** What vendors of language models limit. */
type Kind = 'requests' | 'tokens' | 'input-tokens' | 'output-tokens'

interface VendorFormat {
  readonly kinds: readonly Kind[]
  nameOf(kind: Kind, field: 'limit' | 'remaining' | 'reset'): string
  /** Formats the time of the full reset, `afterMs` from now. */
  reset(afterMs: number, wallMs: () => number): string
}

const KIND_OF_UNIT: ReadonlyMap<string, Kind> = new Map([
  ['request', 'requests'],
  ['requests', 'requests'],
  ['token', 'tokens'],
  ['tokens', 'tokens'],
  ['input-token', 'input-tokens'],
  ['input-tokens', 'input-tokens'],
  ['output-token', 'output-tokens'],
  ['output-tokens', 'output-tokens'],
])

const FORMATS: Readonly<Record<Vendor, VendorFormat>> = {
  openai: {
    kinds: ['requests', 'tokens'],
    nameOf: (kind, field) => `x-ratelimit-${field}-${kind}`,
    reset: goDuration,
  },
  anthropic: {
    kinds: ['requests', 'tokens', 'input-tokens', 'output-tokens'],
    nameOf: (kind, field) => `anthropic-ratelimit-${kind}-${field}`,
    reset: (afterMs, wallMs) => timestamp(wallMs() + afterMs),
  },
}

const VENDORS: readonly Vendor[] = ['openai', 'anthropic']

const NONE: readonly HeaderLine[] = []

/** Longest duration of a JavaScript timer. A longer one expires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** The last second that a timestamp of RFC 3339 can express. */
const LAST_TIMESTAMP_MS = Date.UTC(9999, 11, 31, 23, 59, 59)

/**
 * Returns the fields of vendors for all limiters of a response: limit, remaining units and full reset of each kind of
 * unit, and for a denial the time to retry. If several policies limit one kind, the fields describe the binding one.
 * Policies of other units have no fields. If a limiter without these fields denied the request, there are none, because
 * they would show units that are left. `wallMs` returns the time in ms since 1970.
 */
export function vendorLines(
  entries: readonly HeaderEntry[],
  denial: HttpDenial | undefined,
  wallMs: () => number,
): readonly HeaderLine[] {
  const written = entries.filter(({ plan }) => plan.vendors.length > 0)
  if (written.length === 0) return NONE
  const shown = denial ? written : written.filter(({ plan }) => plan.onAllowed)
  if (denial && written.every(({ allowed }) => allowed)) return NONE
  const lines = VENDORS.flatMap((vendor) => fieldsOf(vendor, shown, wallMs))
  return denial ? [...lines, ...retryLines(denial)] : lines
}

function fieldsOf(vendor: Vendor, entries: readonly HeaderEntry[], wallMs: () => number): HeaderLine[] {
  const { kinds, nameOf, reset } = FORMATS[vendor]
  const verdicts = entries
    .flatMap(({ plan, verdicts: all }) => (plan.vendors.includes(vendor) ? all : []))
    // units are unknown while the backend fails and lets requests pass
    .filter(({ shadow, remaining }) => !shadow && remaining < Number.POSITIVE_INFINITY)
  return kinds.flatMap((kind): HeaderLine[] => {
    const ofKind = verdicts.filter(({ policy }) => KIND_OF_UNIT.get(policy.unit ?? 'requests') === kind)
    if (ofKind.length === 0) return []
    const { policy, remaining, retryAfterMs, resetAfterMs } = ofKind.reduce((a, b) => (binds(b, a) ? b : a))
    const limit: HeaderLine = [nameOf(kind, 'limit'), String(policy.limit)]
    // a request that can never pass finds no units, however many are left
    if (retryAfterMs === Number.POSITIVE_INFINITY) return [limit, [nameOf(kind, 'remaining'), '0']]
    // a booked turn may be later than the end of all usage
    const afterMs = policy.retry === 'booked' ? Math.max(resetAfterMs, retryAfterMs) : resetAfterMs
    return [limit, [nameOf(kind, 'remaining'), String(remaining)], [nameOf(kind, 'reset'), reset(afterMs, wallMs)]]
  })
}

/**
 * Returns the exact wait, which `Retry-After` rounds up, and asks clients not to retry if the request can never pass or
 * their timers cannot wait that long.
 */
function retryLines({ retryAfterMs }: HttpDenial): HeaderLine[] {
  const waitMs = Math.max(1, Math.ceil(retryAfterMs))
  const lines: HeaderLine[] = waitMs === Number.POSITIVE_INFINITY ? [] : [['retry-after-ms', String(waitMs)]]
  return waitMs > LONGEST_TIMER_MS ? [...lines, ['x-should-retry', 'false']] : lines
}

/** Formats a duration as Go does: `120ms`, `1s`, `6m0s`, `1h2m3.5s`. It is rounded up to whole milliseconds. */
function goDuration(durationMs: number): string {
  const ms = Math.max(0, Math.ceil(durationMs - ROUNDING_ERROR_MS))
  if (ms < 1_000) return ms > 0 ? `${ms}ms` : '0s'
  const minutes = Math.floor(ms / 60_000)
  const seconds = `${(ms % 60_000) / 1_000}s`
  if (minutes === 0) return seconds
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}

/** Formats a time as RFC 3339 in UTC, rounded up to whole seconds. */
function timestamp(epochMs: number): string {
  const ms = Math.min(wholeSeconds(epochMs) * 1_000, LAST_TIMESTAMP_MS)
  return new Date(ms).toISOString().replace('.000', '')
}
