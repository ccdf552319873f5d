import { createHash } from 'node:crypto'
import { idOf, storedId } from '@sluice/counters/backend'

/** Maximum bytes of a stored key. PostgreSQL limits index rows to about 2,700 bytes. */
const MAX_KEY_BYTES = 512
/** Stored form of a hashed key, which `storedId` never produces. */
const HASHED = /^\\sha256:[\w-]{43}$/
/** Keys that look like a hashed key, or like the listed form of such a key. */
const LIKE_HASHED = /^\\+sha256:[\w-]{43}$/

/**
 * Returns the stored form of a key: a string that every database can store, or a hash for long keys. Different keys
 * have different stored forms.
 */
export function storedKey(key: string): string {
  const stored = storedId(key)
  if (Buffer.byteLength(stored) <= MAX_KEY_BYTES) return stored
  // hashes UTF-16 code units, because UTF-8 encodes all lone surrogates as the same bytes
  return `\\sha256:${createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')}`
}

/**
 * Returns the listed form of a stored key: the key itself, or the hash of a long key. Keys that look like a hash get a
 * leading backslash, so that listed forms are unique.
 */
export function listedKey(stored: string): string {
  if (HASHED.test(stored)) return stored
  const key = idOf(stored)
  return LIKE_HASHED.test(key) ? `\\${key}` : key
}

/** Returns the key of a stored form; undefined for a long key, which is stored as its hash. */
export function keyOf(stored: string): string | undefined {
  return HASHED.test(stored) ? undefined : idOf(stored)
}

/** Returns the stored form of a listed key. A long key may also be given in full. */
export function storedListed(listed: string): string {
  if (HASHED.test(listed)) return listed
  return storedKey(LIKE_HASHED.test(listed) ? listed.slice(1) : listed)
}
