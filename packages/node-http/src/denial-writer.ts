import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { HeaderLine, HttpDenial } from '@sluice/limiter-core'

/** An unread upload of at most this many bytes is read and dropped, so that the connection can be kept. */
const SMALL_BODY_BYTES = 64 * 1024
/** What an application may have said of the answer that is not sent now. */
const OF_ANOTHER_ANSWER = [
  'ETag',
  'Last-Modified',
  'Expires',
  'Content-Encoding',
  'Content-Range',
  'Content-Disposition',
  'Content-Language',
  'Transfer-Encoding',
  'Trailer',
  // of limiters that passed before: where the one that denies writes none, theirs would still tell of units left
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]

/** Writes header lines, and shows them to pages of other origins where the request came from one. */
export function writeHeaderLines(req: IncomingMessage, res: ServerResponse, lines: readonly HeaderLine[]): void {
  if (res.headersSent) return
  for (const [name, value] of lines) res.setHeader(name, value)
  if (req.headers.origin !== undefined) expose(res, lines)
}

/** Status and headers of a denial; the body is the caller's to end. */
export function writeDenialHead(
  req: IncomingMessage,
  res: ServerResponse,
  denial: HttpDenial,
  lines: readonly HeaderLine[],
): void {
  for (const name of OF_ANOTHER_ANSWER) if (res.hasHeader(name)) res.removeHeader(name)
  res.statusCode = denial.status
  const http1 = req.httpVersionMajor < 2
  if (http1) res.statusMessage = STATUS_CODES[denial.status] ?? ''
  const { retryAfterSeconds } = denial
  const retryAfter: readonly HeaderLine[] =
    retryAfterSeconds === undefined ? [] : [['Retry-After', String(retryAfterSeconds)]]
  // caches that do not know 429 store it under a Cache-Control that was meant for the answer itself
  writeHeaderLines(req, res, [...retryAfter, ...lines])
  res.setHeader('Cache-Control', 'no-store')
  if (http1 && hasLargeBody(req)) res.setHeader('Connection', 'close')
}

/** The usual answer to a denied request. */
export function writeDenialBody(res: ServerResponse, denial: HttpDenial): void {
  res.setHeader('Content-Type', denial.contentType)
  res.setHeader('Content-Length', denial.body.length)
  res.end(denial.body)
}

// draining first would delay the answer by the whole upload, and keeping the connection would make the server read it
function hasLargeBody(req: IncomingMessage): boolean {
  if (req.complete) return false
  if (req.headers['transfer-encoding'] !== undefined) return true
  return Number(req.headers['content-length'] ?? 0) > SMALL_BODY_BYTES
}

function expose(res: ServerResponse, lines: readonly HeaderLine[]): void {
  const names = lines.map(([name]) => name).sort()
  if (names.length === 0) return
  const before = res.getHeader('Access-Control-Expose-Headers')
  const shown =
    before === undefined
      ? []
      : String(before)
          .split(/\s*,\s*/)
          .filter(Boolean)
  const known = new Set(shown.map((name) => name.toLowerCase()))
  const all = [...shown, ...names.filter((name) => !known.has(name.toLowerCase()))]
  res.setHeader('Access-Control-Expose-Headers', all.join(', '))
}
