import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderLine, HttpDenial } from '@sluice/limiter-core'
import type { Exchange } from '../exchange/exchange.ts'

/** Exchange of any framework. */
type AnyExchange = Exchange<unknown, unknown>

/** An unread upload of at most this size is read and dropped, so that the connection can be reused. */
const SMALL_BODY_BYTES = 64 * 1024
/** Headers that describe the regular response, which is not sent. */
const HEADERS_OF_REGULAR_RESPONSE: ReadonlySet<string> = new Set([
  'etag',
  'last-modified',
  'expires',
  'content-encoding',
  'content-length',
  'content-range',
  'content-disposition',
  'content-language',
  'transfer-encoding',
  'trailer',
  // set by limiters that allowed the request: they would show remaining units if the denying limiter writes no headers
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
])

/** Writes header lines. If the request has an Origin, it also exposes them to cross-origin pages. */
export function writeHeaderLines(exchange: AnyExchange, lines: readonly HeaderLine[]): void {
  if (exchange.isAnswered) return
  for (const [name, value] of lines) exchange.setHeader(name, value)
  if (exchange.headers.origin !== undefined) expose(exchange, lines)
}

/** Writes status and headers of a denial. The caller sends the body. */
export function writeDenialHead(exchange: AnyExchange, denial: HttpDenial, lines: readonly HeaderLine[]): void {
  for (const name of exchange.headerNames) if (HEADERS_OF_REGULAR_RESPONSE.has(name)) exchange.removeHeader(name)
  exchange.setStatus(denial.status)
  const { retryAfterSeconds: wait } = denial
  writeHeaderLines(exchange, wait === undefined ? lines : [['Retry-After', String(wait)], ...lines])
  // a cache that does not know 429 would store the denial if the application allowed caching of the regular response
  exchange.setHeader('Cache-Control', 'no-store')
  const { incoming } = exchange
  if (incoming.httpVersionMajor < 2 && hasLargeBody(incoming)) exchange.setHeader('Connection', 'close')
}

// reading a large upload first would delay the response, and keeping the connection open would require reading it
function hasLargeBody(req: IncomingMessage): boolean {
  if (req.complete) return false
  if (req.headers['transfer-encoding'] !== undefined) return true
  return Number(req.headers['content-length'] ?? 0) > SMALL_BODY_BYTES
}

function expose(exchange: AnyExchange, lines: readonly HeaderLine[]): void {
  const names = lines.map(([name]) => name).sort()
  if (names.length === 0) return
  const before = exchange.getHeader('Access-Control-Expose-Headers') as ReturnType<ServerResponse['getHeader']>
  const shown =
    before === undefined
      ? []
      : String(before)
          .split(/\s*,\s*/)
          .filter(Boolean)
  const known = new Set(shown.map((name) => name.toLowerCase()))
  const all = [...shown, ...names.filter((name) => !known.has(name.toLowerCase()))]
  exchange.setHeader('Access-Control-Expose-Headers', all.join(', '))
}
