import { badOption } from '@sluice/limiter-core/backend'

const LONGEST_KEY = 4_096

/**
 * Returns the requested key. Throws `SLUICE_BAD_OPTION` for an invalid key, without printing it: it may be a secret.
 */
export function checkedKey(owner: string, key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= LONGEST_KEY) return key
  throw badOption(`${owner}: key`, typeof key, `a string of 1 to ${LONGEST_KEY} characters`)
}
