import type { HeaderLine, HttpDenial } from '@sluice/limiter-core/http'
import type { HttpExchange } from '../exchange.ts'
import { isLimitField } from '../record/limit-fields.ts'

/** Exchange of any framework. */
type AnyExchange = HttpExchange<unknown, unknown>

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
])

/** Writes header lines. If the request has an Origin, it also exposes them to cross-origin pages. */
export function writeHeaderLines(exchange: AnyExchange, lines: readonly HeaderLine[]): void {
  if (!exchange.setLines(lines)) return
  if (exchange.headers.origin !== undefined) expose(exchange, lines)
}

/** Writes status and headers of a denial. The caller sends the body. */
export function writeDenialHead(exchange: AnyExchange, denial: HttpDenial, lines: readonly HeaderLine[]): void {
  for (const name of exchange.headerNames) {
    if (isOfRegularResponse(name)) exchange.removeHeader(name)
  }
  exchange.setStatus(denial.status)
  const { retryAfterSeconds: wait } = denial
  writeHeaderLines(exchange, wait === undefined ? lines : [['Retry-After', String(wait)], ...lines])
  // a cache that does not know 429 would store the denial if the application allowed caching of the regular response
  exchange.setHeader('Cache-Control', 'no-store')
  exchange.refuseBody?.()
}

/** Whether a denial must not have a header, in lower case, that the application or another limiter has set. */
export function isOfRegularResponse(name: string): boolean {
  // limiters that allowed the request would show remaining units if the denying limiter writes no headers
  return HEADERS_OF_REGULAR_RESPONSE.has(name) || isLimitField(name)
}

function expose(exchange: AnyExchange, lines: readonly HeaderLine[]): void {
  const names = lines.map(([name]) => name).sort()
  if (names.length === 0) return
  const before = exchange.getHeader('Access-Control-Expose-Headers')
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
