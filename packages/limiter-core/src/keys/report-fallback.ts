import { messageOf, type SluiceCode } from '../errors/errors.ts'
import type { LimiterReport } from '../observers/limiter-report.ts'
import { type AddressDoubt, NO_ADDRESS, type ReportFallback } from './key-source.ts'

const DOUBTS: Readonly<Record<AddressDoubt, readonly [code: SluiceCode, message: string]>> = {
  'no-address': [
    'SLUICE_NO_ADDRESS',
    `a request came without a client address that can be read: all such requests share the key "${NO_ADDRESS}"`,
  ],
  'unreadable-address': [
    'SLUICE_BAD_ADDRESS',
    'a request came with a client address that is none: the address of its socket is counted, behind a proxy one for all clients',
  ],
  'forwarded-unread': [
    'SLUICE_FORWARDED_IGNORED',
    'a Forwarded header came, and nobody reads it: behind a proxy that writes it all clients share its address as their key',
  ],
  'whole-ipv6': [
    'SLUICE_FULL_IPV6_KEY',
    'its key is an IPv6 address as it is, and a client has 2^64 of them or more: expected byIp(), which counts their prefix',
  ],
}

/** Reasons for which the key is used as the source returned it. */
const AS_ASKED: readonly string[] = ['forwarded-unread', 'whole-ipv6']

/**
 * Reports every fallback to the address to observers, and warns once about fallbacks that cannot be intended and
 * about doubtful addresses.
 */
export function fallbackReporter(report: LimiterReport): ReportFallback {
  return ({ reason, error }) => {
    if (!AS_ASKED.includes(reason)) report.observers.event('keyFallback', { reason, error })
    if (reason === 'anonymous') return
    if (isDoubt(reason)) {
      const [code, message] = DOUBTS[reason]
      return report.warnOnce(code, () => message)
    }
    report.warnOnce('SLUICE_KEY_FALLBACK', () => {
      const why = error === undefined ? reason : `${reason}: ${messageOf(error)}`
      return `the address of a client is counted, since no key came of its request (${why})`
    })
  }
}

function isDoubt(reason: string): reason is AddressDoubt {
  return Object.hasOwn(DOUBTS, reason)
}
