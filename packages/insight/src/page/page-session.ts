import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '@sluice/limiter-core'
import { badOption } from '@sluice/limiter-core/backend'

const COOKIE = 'sluice_insight'
const SESSION_MS = 12 * 3_600_000
/** Shorter tokens could be guessed, or recovered from a signed cookie by brute force. */
const SHORTEST_TOKEN = 16

/**
 * Login sessions. A cookie is `expiry.nonce.signature`, signed with the token, so that all processes with that token
 * accept it and none stores it.
 */
export class PageSession {
  readonly #token: string
  readonly #signingKey: Buffer
  readonly #clock: Clock

  constructor(token: string, clock: Clock) {
    if (typeof token !== 'string' || token.length < SHORTEST_TOKEN) {
      throw badOption('dashboard: token', typeof token, `a string of at least ${SHORTEST_TOKEN} characters`)
    }
    this.#token = token
    this.#signingKey = createHmac('sha256', token).update('sluice insight session').digest()
    this.#clock = clock
  }

  /** Whether the token is correct. Compares in constant time. */
  accepts(token: string): boolean {
    return isSame(token, this.#token)
  }

  /** Whether the request has a valid session cookie or the token as bearer. */
  holds(req: IncomingMessage): boolean {
    const { headers } = req
    const bearer = bearerOf(req)
    if (bearer !== undefined) return this.accepts(bearer)
    const [expiry = '', nonce = '', signature = ''] = (cookieOf(headers.cookie ?? '') ?? '').split('.')
    const isSigned = isSame(signature, this.#signature(expiry, nonce))
    return isSigned && Number(expiry) > this.#clock.wall()
  }

  /** Returns a `Set-Cookie` header for a user who has logged in at that path. */
  cookie(req: IncomingMessage, path: string): string {
    const expiry = String(Math.floor(this.#clock.wall() + SESSION_MS))
    const nonce = randomBytes(16).toString('base64url')
    const value = `${expiry}.${nonce}.${this.#signature(expiry, nonce)}`
    return cookieLine(req, path, value, SESSION_MS / 1000)
  }

  /** Returns a `Set-Cookie` value that ends the session. */
  endingCookie(req: IncomingMessage, path: string): string {
    return cookieLine(req, path, '', 0)
  }

  #signature(expiry: string, nonce: string): string {
    return createHmac('sha256', this.#signingKey).update(`${expiry}.${nonce}`).digest('base64url')
  }
}

/** Returns the token in the `Authorization` header of a request, if it has one. */
export function bearerOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
}

function cookieLine(req: IncomingMessage, path: string, value: string, maxAgeSeconds: number): string {
  const secure = isHttps(req) ? '; Secure' : ''
  return `${COOKIE}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`
}

function cookieOf(header: string): string | undefined {
  const pair = header.split(';').find((each) => each.trim().startsWith(`${COOKIE}=`))
  return pair?.trim().slice(COOKIE.length + 1)
}

/** Whether the client uses HTTPS. A forged `x-forwarded-proto` can only make the cookie stricter. */
function isHttps({ socket, headers }: IncomingMessage): boolean {
  const isEncrypted = (socket as { readonly encrypted?: boolean }).encrypted === true
  return isEncrypted || /^https\b/i.test(String(headers['x-forwarded-proto'] ?? ''))
}

/** Compares hashes, which have the same length for inputs of any length. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a, b)
}
