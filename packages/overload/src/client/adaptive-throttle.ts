import { integerFrom, kindOf, optionalFunction, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import { askedWaitMs, type ResponseFields } from './asked-wait.ts'
import { type Outcome, safely, Throttle, type ThrottleStats } from './throttle.ts'
import { THROTTLE_OPTIONS, type ThrottleOptions, throttleRules } from './throttle-options.ts'
import type { Reply } from './upstream.ts'

/** The parts of a response that `adaptiveThrottle` reads. */
export interface UpstreamResponse {
  readonly status: number
  readonly headers: ResponseFields
}

/** `fetch`, or a function with its arguments, such as the one of undici. */
export type FetchLike = (...request: never[]) => Promise<UpstreamResponse>

/** Options of `adaptiveThrottle`. */
export interface AdaptiveThrottleOptions<F extends FetchLike = typeof fetch> extends ThrottleOptions {
  /**
   * Returns the name of the upstream of a request. Requests of one name are throttled together. Default: the origin of
   * the URL; all relative URLs have the same name.
   */
  readonly key?: ((...request: Parameters<F>) => string) | undefined
  /**
   * How often one request may be sent again, an integer from 0 to 10. Only requests with an idempotent method or the
   * header `Idempotency-Key`, and a body that is not a stream, are sent again. Default: 2.
   */
  readonly retries?: number | undefined
}

const OPTIONS = [...THROTTLE_OPTIONS, 'key', 'retries'] as const
// RFC 9110 section 9.2.2, and QUERY of draft-ietf-httpbis-safe-method-w-body
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY', 'PUT', 'DELETE'])
const OVERLOADED = new Set([429, 503])

interface Init {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: RequestInit['headers']
  readonly signal?: AbortSignal | null
}

/**
 * Returns a `fetch` that learns at which rate each upstream accepts requests, sends no more, and sends none while the
 * upstream asks for none by `Retry-After`, `RateLimit` or one of the older fields of rate limits. A response with the
 * status 429 or 503, a network error and a timeout mean that a request was not accepted. Requests that are not sent
 * reject with the code `SLUICE_THROTTLED`. The result also has a method `stats`, which counts requests by upstream.
 * Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION`.
 */
export function adaptiveThrottle<F extends FetchLike>(
  fetch: F,
  options: AdaptiveThrottleOptions<F> = {},
): F & ThrottleStats {
  const owner = 'adaptiveThrottle'
  if (typeof fetch !== 'function') {
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: expected a function such as fetch, received ${kindOf(fetch)}`)
  }
  const { key, retries = 2 } = optionsOf(owner, options, OPTIONS)
  optionalFunction(`${owner}: key`, key)
  const mostRetries = integerFrom(`${owner}: retries`, retries, 0, 10)
  const rules = throttleRules(owner, options)
  const throttle = new Throttle(rules)
  const send = fetch as unknown as (...request: readonly unknown[]) => Promise<UpstreamResponse>
  // async, so that an invalid request rejects, as it does with fetch
  const throttled = async (...request: readonly unknown[]): Promise<UpstreamResponse> => {
    const [input, init] = request as readonly [input: unknown, init?: Init | null]
    const signal = init?.signal ?? partOf(input).signal
    const origin = originOf(input)
    return throttle.run({
      key: key ? safely(`${owner}: key`, () => String(key(...(request as Parameters<F>))), origin) : origin,
      retries: isRepeatable(input, init) ? mostRetries : 0,
      signal,
      send: () => send(...request),
      assess: (outcome) => replyOf(outcome, signal, rules.clock.wall()),
      discard: cancelBody,
    })
  }
  return Object.assign(throttled as unknown as F, { stats: () => throttle.stats() })
}

/** The properties of a `Request`, or none of a URL. */
function partOf(input: unknown): Init & { readonly url?: string } {
  return typeof input === 'object' && input !== null ? (input as Init) : {}
}

function originOf(input: unknown): string {
  const url = partOf(input).url ?? String(input)
  return URL.canParse(url) ? new URL(url).origin : ''
}

function isRepeatable(input: unknown, init: Init | null | undefined): boolean {
  const method = init?.method ?? partOf(input).method ?? 'GET'
  // the body of a Request is a stream
  const isConsumed = partOf(input).body instanceof ReadableStream
  if (isConsumed || !isReusable(init?.body)) return false
  return IDEMPOTENT.has(String(method).toUpperCase()) || hasIdempotencyKey(init?.headers ?? partOf(input).headers)
}

/** Whether the upstream can recognise a repeated request (draft-ietf-httpapi-idempotency-key-header). */
function hasIdempotencyKey(headers: Init['headers']): boolean {
  try {
    return new Headers(headers).has('idempotency-key')
  } catch {
    // fetch reports invalid headers
    return false
  }
}

function isReusable(body: unknown): boolean {
  if (body === undefined || body === null || typeof body === 'string') return true
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return true
  return body instanceof URLSearchParams || body instanceof Blob || body instanceof FormData
}

function replyOf(outcome: Outcome<UpstreamResponse>, signal: Init['signal'], wallMs: number): Reply {
  if ('error' in outcome) return { kind: isAbort(outcome.error, signal) ? 'unknown' : 'overloaded', waitMs: 0 }
  const { status, headers } = outcome.value
  const isOverloaded = OVERLOADED.has(status)
  return { kind: isOverloaded ? 'overloaded' : 'accepted', waitMs: askedWaitMs(headers, isOverloaded, wallMs) }
}

/** Whether the caller no longer wanted the response. A timeout means that the upstream was too slow. */
function isAbort(error: unknown, signal: Init['signal']): boolean {
  const { name } = (error ?? {}) as { readonly name?: unknown }
  return name === 'AbortError' || (signal?.aborted === true && error === signal.reason && name !== 'TimeoutError')
}

/** Frees the connection of a response that the caller does not receive. */
function cancelBody(response: UpstreamResponse): void {
  const { body } = response as { readonly body?: { cancel?(): unknown } | null }
  Promise.resolve()
    .then(() => body?.cancel?.())
    .catch(() => {})
}
