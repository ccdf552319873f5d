import type { IncomingMessage } from 'node:http'
import { hostOf, isLocalRequest } from '@sluice/fleet/backend'
import { queryOf } from './mounted-address.ts'
import type { Problem } from './page-response.ts'
import type { PageSession } from './page-session.ts'

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
  if (session === undefined) return isLocalRequest(req) ? crossSite(req) : NOT_LOOPBACK
  return session.holds(req) ? crossSite(req) : NO_SESSION
}

/**
 * Rejects requests that another site sends on behalf of the user. Following a link is allowed, because the other site
 * does not see the response.
 */
export function crossSite(req: IncomingMessage): Problem | undefined {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, origin } = req.headers
  const isLink = mode === 'navigate' && req.method === 'GET'
  // the browser's header is more reliable than a host that a proxy may have changed
  if (site !== undefined) return isLink || site === 'same-origin' || site === 'none' ? undefined : CROSS_SITE
  if (origin === undefined) return undefined
  return URL.canParse(origin) && new URL(origin).host === hostOf(req) ? undefined : CROSS_SITE
}

/** Rejects any request with a token in its address, valid or not. */
export function tokenInAddress(req: IncomingMessage): Problem | undefined {
  const query = queryOf(req)
  return TOKEN_NAMES.some((name) => query.has(name)) ? TOKEN_IN_ADDRESS : undefined
}
