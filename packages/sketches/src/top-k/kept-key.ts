import { createHash } from 'node:crypto'
import { keyText } from '../key-text.ts'

/** A key up to so many characters (UTF-16 units) is kept as it is. */
export const WHOLE_KEY = 256

// '…' and 256 bits as base64url
const MARK = '\u2026'
const DIGEST = 43

/** A longer one is kept as so many: its beginning, a mark and a digest. No key that is kept whole has that length. */
export const CUT_KEY: number = WHOLE_KEY + MARK.length + DIGEST

const LEAST_SLICE = 13
const SCRATCH = Buffer.alloc(2 * CUT_KEY)

/**
 * The name under which a key is counted and shown: itself, or, of a long one, its first 256 characters, '…' and the
 * SHA-256 of its UTF-16 units. Nobody can name two long keys that are kept as one, and a megabyte is kept as 300
 * characters. V8 also hashes a string beyond 16,383 characters by its length alone: none of that length is looked up.
 */
export function keptKey(key: string): string {
  if (typeof key !== 'string') return keptKey(keyText(key))
  return key.length <= WHOLE_KEY ? key : cutKey(key)
}

/**
 * The same string, in memory of its own. What was sliced from a long text holds the whole of that text as long as it is
 * kept, and is looked up five times as slowly as a plain string. V8 slices by copying below 13 characters.
 */
export function detached(key: string): string {
  if (key.length < LEAST_SLICE) return key
  const narrow = SCRATCH.toString('latin1', 0, SCRATCH.write(key, 'latin1'))
  return narrow === key ? narrow : SCRATCH.toString('utf16le', 0, SCRATCH.write(key, 'utf16le'))
}

function cutKey(key: string): string {
  // not UTF-8, in which all lone surrogates are one
  return key.slice(0, WHOLE_KEY) + MARK + createHash('sha256').update(key, 'utf16le').digest('base64url')
}
