import type { Observers } from '../observers.ts'
import { warnOnce } from '../warn-once.ts'
import type { ReportFallback } from './key-source.ts'

/** Tells observers of every fallback to the address, and warns once of those that no one can have meant. */
export function fallbackReporter(observers: Observers): ReportFallback {
  return ({ reason, error }) => {
    observers.event('keyFallback', { reason, error })
    if (reason === 'anonymous') return
    warnOnce(
      'SLUICE_KEY_FALLBACK',
      () => `the address is counted, as the key of a request was ${reason} ${error ?? ''}`,
    )
  }
}
