import { badOption } from '@sluice/limiter-core/backend'

const LONGEST_KEY = 4_096

/** A key that somebody asks for. Throws `SLUICE_BAD_OPTION`, and never shows it: it may be a secret. */
export function askedKey(owner: string, key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= LONGEST_KEY) return key
  throw badOption(`${owner}: key`, typeof key, `a text of 1 to ${LONGEST_KEY} characters`)
}
