import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { hasUnreadBody } from '@sluice/fleet/backend'

const CONTENT_SECURITY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** Headers of every response: no caching, framing, sniffing, and no requests to other hosts. */
const SECURITY = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': CONTENT_SECURITY,
  'X-Content-Type-Options': 'nosniff',
  // without a referrer, browsers also hide the origin of a login
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const

export interface PageFile {
  readonly type: string
  readonly text: string
}

export interface Problem {
  readonly status: number
  readonly title: string
  readonly detail: string
  /** Code of a Sluice error. */
  readonly code?: string
}

const compressed = new Map<string, Buffer>()

/** Sets the security headers. */
export function secure(res: ServerResponse): void {
  for (const [name, value] of Object.entries(SECURITY)) res.setHeader(name, value)
}

/** Sends a file of the page, compressed if the client accepts it. */
export function sendFile(res: ServerResponse, { type, text }: PageFile, status = 200): void {
  const accepted = String(res.req.headers['accept-encoding'] ?? '')
  const isCompressed = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted)
  const body = isCompressed ? compressedText(text) : Buffer.from(text)
  if (isCompressed) res.setHeader('Content-Encoding', 'gzip')
  res.setHeader('Vary', 'Accept-Encoding')
  end(res, status, `${type}; charset=utf-8`, body)
}

export function answerJson(res: ServerResponse, value: unknown): void {
  end(res, 200, 'application/json; charset=utf-8', Buffer.from(JSON.stringify(value)))
}

/** Responds with problem JSON (RFC 9457). */
export function answerProblem(res: ServerResponse, problem: Problem): void {
  if (problem.status === 405) res.setHeader('Allow', 'GET, HEAD')
  end(res, problem.status, 'application/problem+json', Buffer.from(JSON.stringify({ type: 'about:blank', ...problem })))
}

/** Responds with a redirect. `location` is relative, so that the redirect stays on the same host. */
export function answerRedirect(res: ServerResponse, status: 303 | 307, location: string): void {
  res.setHeader('Location', location)
  end(res, status, 'text/plain; charset=utf-8', Buffer.alloc(0))
}

function end(res: ServerResponse, status: number, type: string, body: Buffer): void {
  res.statusCode = status
  res.setHeader('Content-Type', type)
  res.setHeader('Content-Length', body.length)
  if (hasUnreadBody(res.req)) res.setHeader('Connection', 'close')
  res.end(res.req.method === 'HEAD' ? undefined : body)
}

/** Returns the compressed text, cached: there are only a few files. */
function compressedText(text: string): Buffer {
  const kept = compressed.get(text) ?? gzipSync(text, { level: 9 })
  compressed.set(text, kept)
  return kept
}
