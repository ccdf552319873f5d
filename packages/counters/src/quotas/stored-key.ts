import { createHash } from 'node:crypto'
import { idOf, storedId } from '../ledger/stored-id.ts'

/** Of the key of a row: an index of PostgreSQL has room for some 2,700. */
const MOST_BYTES = 512
/** No escape of `storedId` begins so. */
const HASHED = /^\\sha256:[\w-]{43}$/
/** Keys that would be listed as a hash is, and those that are listed as such keys are. */
const LIKE_HASHED = /^\\+sha256:[\w-]{43}$/

/** A key as it is stored: text that every database keeps; long ones are stored as their hash, which no other key has. */
export function storedKey(key: string): string {
  const stored = storedId(key)
  if (Buffer.byteLength(stored) <= MOST_BYTES) return stored
  // of its UTF-16 units, since UTF-8 writes all lone surrogates alike
  return `\\sha256:${createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')}`
}

/** A stored key as it is listed: the key itself, or the hash of a long one, which no other key is listed as. */
export function listedKey(stored: string): string {
  if (HASHED.test(stored)) return stored
  const key = idOf(stored)
  return LIKE_HASHED.test(key) ? `\\${key}` : key
}

/** How the key is stored that is listed so; of a long key that is given whole, too. */
export function storedListed(listed: string): string {
  if (HASHED.test(listed)) return listed
  return storedKey(LIKE_HASHED.test(listed) ? listed.slice(1) : listed)
}
