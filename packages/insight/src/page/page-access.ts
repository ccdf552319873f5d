import type { IncomingMessage } from 'node:http'
import { queryOf } from './mounted-address.ts'
import type { Problem } from './page-response.ts'
import type { PageSession } from './page-session.ts'

const LOOPBACK = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/i
const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i
/** Headers set by proxies. Behind a proxy, the peer address does not identify the client. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']
const TOKEN_NAMES = ['token', 'access_token']

const NOT_LOOPBACK: Problem = {
  status: 403,
  title: 'Forbidden',
  detail: 'Without a token the dashboard is available only on localhost. Set a token to open it from other machines.',
}
const NO_SESSION: Problem = { status: 401, title: 'Unauthorized', detail: 'Log in with the token of the dashboard.' }
const CROSS_SITE: Problem = { status: 403, title: 'Forbidden', detail: 'Requests from other sites are not allowed.' }
const TOKEN_IN_ADDRESS: Problem = {
  status: 400,
  title: 'Bad Request',
  detail: 'Do not put the token into the URL: logs, browser histories and referrers keep URLs. Use the login form.',
}

/** Returns the reason why a request may not view the dashboard, or undefined if it may. */
export function refusalOf(req: IncomingMessage, session: PageSession | undefined): Problem | undefined {
  if (session === undefined) return isLoopback(req) ? crossSite(req) : NOT_LOOPBACK
  return session.holds(req) ? crossSite(req) : NO_SESSION
}

/**
 * Rejects requests that another site sends on behalf of the user. Following a link is allowed, because the other site
 * does not see the response.
 */
export function crossSite({ method, headers }: IncomingMessage): Problem | undefined {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, origin, host } = headers
  const isLink = mode === 'navigate' && method === 'GET'
  // the browser's header is more reliable than a host that a proxy may have changed
  if (site !== undefined) return isLink || site === 'same-origin' || site === 'none' ? undefined : CROSS_SITE
  if (origin === undefined) return undefined
  return URL.canParse(origin) && new URL(origin).host === host ? undefined : CROSS_SITE
}

/** Rejects any request with a token in its address, valid or not. */
export function tokenInAddress(req: IncomingMessage): Problem | undefined {
  const query = queryOf(req)
  return TOKEN_NAMES.some((name) => query.has(name)) ? TOKEN_IN_ADDRESS : undefined
}

/**
 * Whether the peer is this machine and the host name is a loopback name. Other sites cannot use such a name, which
 * prevents DNS rebinding.
 */
function isLoopback({ socket, headers }: IncomingMessage): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false
  return LOOPBACK.test(socket.remoteAddress ?? '') && LOOPBACK_HOST.test(headers.host ?? '')
}
