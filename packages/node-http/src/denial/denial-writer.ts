import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderLine, HttpDenial } from '@sluice/limiter-core'
import type { Exchange } from '../exchange/exchange.ts'

/** Any framework's exchange. */
type AnyExchange = Exchange<unknown, unknown>

/** An unread upload of at most this many bytes is read and dropped, so that the connection can be kept. */
const SMALL_BODY_BYTES = 64 * 1024
/** What an application may have said of the answer that is not sent now. */
const OF_ANOTHER_ANSWER: ReadonlySet<string> = new Set([
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
  // of limiters that passed before: where the one that denies writes none, theirs would still tell of units left
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
])

/** Writes header lines, and shows them to pages of other origins where the request came from one. */
export function writeHeaderLines(exchange: AnyExchange, lines: readonly HeaderLine[]): void {
  if (exchange.answered) return
  for (const [name, value] of lines) exchange.setHeader(name, value)
  if (exchange.incoming.headers.origin !== undefined) expose(exchange, lines)
}

/** Status and headers of a denial; the body is the caller's to send. */
export function writeDenialHead(exchange: AnyExchange, denial: HttpDenial, lines: readonly HeaderLine[]): void {
  for (const name of exchange.headerNames) if (OF_ANOTHER_ANSWER.has(name)) exchange.removeHeader(name)
  exchange.setStatus(denial.status)
  const { retryAfterSeconds: wait } = denial
  writeHeaderLines(exchange, wait === undefined ? lines : [['Retry-After', String(wait)], ...lines])
  // caches that do not know 429 store it under a Cache-Control that was meant for the answer itself
  exchange.setHeader('Cache-Control', 'no-store')
  const { incoming } = exchange
  if (incoming.httpVersionMajor < 2 && hasLargeBody(incoming)) exchange.setHeader('Connection', 'close')
}

// draining first would delay the answer by the whole upload, and keeping the connection would make the server read it
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
