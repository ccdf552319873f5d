import { messageOf, type SluiceCode } from '../errors.ts'
import type { Observers } from '../observers.ts'
import { warn, warnOnce } from '../warn-once.ts'
import type { AddressDoubt, ReportFallback } from './key-source.ts'

const DOUBTS: Readonly<Record<AddressDoubt, readonly [code: SluiceCode, message: string]>> = {
  'unreadable-address': [
    'SLUICE_BAD_ADDRESS',
    'a request came with a client address that is none: the address of its socket is counted, behind a proxy one for all clients',
  ],
  'forwarded-unread': [
    'SLUICE_FORWARDED_UNREAD',
    'a Forwarded header came, and nobody reads it: behind a proxy that writes it all clients share its address as their key',
  ],
  'whole-ipv6': [
    'SLUICE_WHOLE_ADDRESS',
    'its key is an IPv6 address as it is, and a client has 2^64 of them or more: expected byIp(), which counts their prefix',
  ],
}

/**
 * Tells observers of every fallback to the address, and warns once of those that no one can have meant. Warns once for
 * each limiter of addresses that are doubtful; `names` are those of what it limits.
 */
export function fallbackReporter(observers: Observers, names: () => readonly string[]): ReportFallback {
  const warned = new Set<string>()
  return ({ reason, error }) => {
    if (reason === 'unreadable-address' || !isDoubt(reason)) observers.event('keyFallback', { reason, error })
    if (isDoubt(reason)) {
      if (warned.has(reason)) return
      warned.add(reason)
      const [code, message] = DOUBTS[reason]
      return warn(code, `limiter '${names().join(', ')}': ${message}`)
    }
    if (reason === 'anonymous') return
    warnOnce('SLUICE_KEY_FALLBACK', () => {
      const why = error === undefined ? reason : `${reason}: ${messageOf(error)}`
      return `the address of a client is counted, since no key came of its request (${why})`
    })
  }
}

function isDoubt(reason: string): reason is AddressDoubt {
  return Object.hasOwn(DOUBTS, reason)
}
