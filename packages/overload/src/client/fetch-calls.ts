import { kindOf, SluiceError } from '@sluice/limiter-core/backend'
import { readAnnounced } from './announced/announced.ts'
import type { ResponseFields } from './announced/budget.ts'
import { type Outcome, safely } from './throttle.ts'
import type { Reply } from './upstream.ts'

/** The parts of a response that `adaptiveThrottle` and `pacedFetch` read. */
export interface UpstreamResponse {
  readonly status: number
  readonly headers: ResponseFields
}

/** `fetch`, or a function with its arguments, such as the one of undici. */
export type FetchLike = (...request: never[]) => Promise<UpstreamResponse>

type Send = (...request: readonly unknown[]) => Promise<UpstreamResponse>

interface Init {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: RequestInit['headers']
  readonly signal?: AbortSignal | null
}

// RFC 9110 section 9.2.2, and QUERY of draft-ietf-httpbis-safe-method-w-body
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY', 'PUT', 'DELETE'])

/** Throws `SLUICE_BAD_OPTION` if `fetch` is not a function. */
export function checkedFetch(owner: string, fetch: unknown): Send {
  if (typeof fetch === 'function') return fetch as Send
  throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: expected a function such as fetch, received ${kindOf(fetch)}`)
}

/** Returns the text that a hook returns for the arguments of `fetch`; `otherwise` if there is no hook, or it throws. */
export function named(option: string, hook: unknown, request: readonly unknown[], otherwise: string): string {
  if (typeof hook !== 'function') return otherwise
  return safely(option, () => String(hook(...request)), otherwise)
}

/** Returns the origin of a request; `''` for a relative URL. */
export function originOf(input: unknown): string {
  const url = partOf(input).url ?? String(input)
  return URL.canParse(url) ? new URL(url).origin : ''
}

/** Returns the signal of a request, that of its options first. */
export function signalOf([input, init]: readonly unknown[]): AbortSignal | null | undefined {
  return (init as Init | null | undefined)?.signal ?? partOf(input).signal
}

/**
 * Whether a request may be sent again: its method is idempotent, or the upstream can recognise a repeated request by its
 * `Idempotency-Key`, and its body is not a stream.
 */
export function isRepeatable([input, init]: readonly unknown[]): boolean {
  const options = (init ?? {}) as Init
  const method = options.method ?? partOf(input).method ?? 'GET'
  // the body of a Request is a stream
  const isConsumed = partOf(input).body instanceof ReadableStream
  if (isConsumed || !isReusable(options.body)) return false
  return IDEMPOTENT.has(String(method).toUpperCase()) || hasIdempotencyKey(options.headers ?? partOf(input).headers)
}

/** Returns what the end of a request shows. A timeout means that the upstream was too slow. */
export function replyOf(outcome: Outcome<UpstreamResponse>, signal: Init['signal'], wallMs: number): Reply {
  if ('error' in outcome) return { kind: isAbort(outcome.error, signal) ? 'unknown' : 'overloaded', waitMs: 0 }
  const { status, headers } = outcome.value
  const { isRefusal, ...announced } = readAnnounced(status, headers, wallMs)
  return { kind: isRefusal ? 'refused' : 'accepted', isLimit: isRefusal && status !== 503, ...announced }
}

/** Frees the connection of a response that the caller does not receive. */
export function cancelBody(response: UpstreamResponse): void {
  const { body } = response as { readonly body?: { cancel?(): unknown } | null }
  Promise.resolve()
    .then(() => body?.cancel?.())
    .catch(() => {})
}

/** The properties of a `Request`, or none of a URL. */
function partOf(input: unknown): Init & { readonly url?: string } {
  return typeof input === 'object' && input !== null ? (input as Init) : {}
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

/** Whether the caller no longer wanted the response. */
function isAbort(error: unknown, signal: Init['signal']): boolean {
  const { name } = (error ?? {}) as { readonly name?: unknown }
  return name === 'AbortError' || (signal?.aborted === true && error === signal.reason && name !== 'TimeoutError')
}
