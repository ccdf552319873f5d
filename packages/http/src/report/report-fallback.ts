import {
  type AddressDoubt,
  messageOf,
  NO_ADDRESS,
  type ReportFallback,
  type SluiceCode,
} from '@sluice/limiter-core/http'
import type { LimiterReport } from './limiter-report.ts'

const DOUBTS: Readonly<Record<AddressDoubt, readonly [code: SluiceCode, message: string]>> = {
  'no-address': [
    'SLUICE_NO_ADDRESS',
    `a request has no valid client address; all such requests share the key "${NO_ADDRESS}"; if a proxy or a host ` +
      "writes the address to a header, set trust to its name, such as 'nginx', 'aws-alb' or 'vercel', or to " +
      "{ ranges: ['unknown'], header }",
  ],
  'unreadable-address': [
    'SLUICE_BAD_ADDRESS',
    'the client address of a request is not an IP address; the address of its socket is counted, ' +
      'which is the same for all clients behind a proxy',
  ],
  'forwarded-unread': [
    'SLUICE_FORWARDED_IGNORED',
    'a request has a Forwarded header, which the framework does not read; ' +
      'if a proxy sends it, all clients behind the proxy share one key',
  ],
  'whole-ipv6': [
    'SLUICE_FULL_ADDRESS_KEY',
    'the key of a request is a full IPv6 address, and one client can use 2^64 or more of them; ' +
      'use byIp(), which counts address prefixes',
  ],
  'no-route': [
    'SLUICE_NO_ROUTE',
    'byRoute() finds no route, so that all requests share one key: the limiter runs before the router; ' +
      "pass it to routes instead, as in app.get('/search', limiter, handler), or use another key",
  ],
}

/** Reasons that are only warned about, because the key of the source is used. */
const KEY_IS_USED: readonly string[] = ['forwarded-unread', 'whole-ipv6', 'no-route']

/**
 * Returns a function that reports each fallback to the address to observers, and warns once about each reason except
 * `anonymous`, which is normal.
 */
export function fallbackReporter(report: LimiterReport): ReportFallback {
  return ({ reason, error }) => {
    if (!KEY_IS_USED.includes(reason)) report.observers.event('keyFallback', { reason, error })
    if (reason === 'anonymous') return
    if (isDoubt(reason)) {
      const [code, message] = DOUBTS[reason]
      return report.warnOnce(code, () => message)
    }
    report.warnOnce('SLUICE_KEY_FALLBACK', () => {
      const why = error === undefined ? reason : `${reason}: ${messageOf(error)}`
      return `a request has no key (${why}); the client address is counted instead`
    })
  }
}

function isDoubt(reason: string): reason is AddressDoubt {
  return Object.hasOwn(DOUBTS, reason)
}
