import { createHash } from 'node:crypto'
import { storedId } from '../ledger/stored-id.ts'

/** Of the key of a row: an index of PostgreSQL has room for some 2,700. */
const MOST_BYTES = 512

/** A key as it is stored: text that every database keeps; long ones are stored as their hash, which no other key has. */
export function storedKey(key: string): string {
  const stored = storedId(key)
  if (Buffer.byteLength(stored) <= MOST_BYTES) return stored
  // of its UTF-16 units, since UTF-8 writes all lone surrogates alike; no escape begins so
  return `\\sha256:${createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')}`
}
