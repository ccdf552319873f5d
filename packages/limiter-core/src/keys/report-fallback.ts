import { messageOf } from '../errors.ts'
import type { Observers } from '../observers.ts'
import { warnOnce } from '../warn-once.ts'
import type { ReportFallback } from './key-source.ts'

/** Tells observers of every fallback to the address, and warns once of those that no one can have meant. */
export function fallbackReporter(observers: Observers): ReportFallback {
  return ({ reason, error }) => {
    observers.event('keyFallback', { reason, error })
    if (reason === 'anonymous') return
    warnOnce('SLUICE_KEY_FALLBACK', () => {
      const why = error === undefined ? reason : `${reason}: ${messageOf(error)}`
      return `the address of a client is counted, since no key came of its request (${why})`
    })
  }
}
