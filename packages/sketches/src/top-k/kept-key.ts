import { createHash } from 'node:crypto'
import { keyText } from '../key-text.ts'

/** A key of up to this length (UTF-16 units) is stored unchanged. */
export const WHOLE_KEY = 256

// '…' and 256 bits as base64url
const MARK = '\u2026'
const DIGEST = 43

/** A longer key is stored with this length: its beginning, a mark and a digest. No unchanged key has this length. */
export const CUT_KEY: number = WHOLE_KEY + MARK.length + DIGEST

const MIN_SLICE = 13
let scratch: Buffer | undefined

/**
 * Returns the name under which a key is counted and reported: the key itself or, for a long key, its first 256
 * characters, '…' and the SHA-256 of its UTF-16 units. Two long keys with the same name cannot be found, and a
 * megabyte is stored as 300 characters. V8 hashes strings above 16,383 characters only by their length, so no such
 * string is looked up.
 */
export function keptKey(key: string): string {
  if (typeof key !== 'string') return keptKey(keyText(key))
  return key.length <= WHOLE_KEY ? key : cutKey(key)
}

/**
 * Returns the same string in separate memory. A slice of a long string keeps that string in memory and is looked up
 * five times as slowly as a plain one. V8 copies slices below 13 characters.
 */
export function detached(key: string): string {
  if (key.length < MIN_SLICE) return key
  scratch ??= Buffer.alloc(2 * CUT_KEY)
  const narrow = scratch.toString('latin1', 0, scratch.write(key, 'latin1'))
  return narrow === key ? narrow : scratch.toString('utf16le', 0, scratch.write(key, 'utf16le'))
}

function cutKey(key: string): string {
  // not UTF-8, in which all lone surrogates are one
  return key.slice(0, WHOLE_KEY) + MARK + createHash('sha256').update(key, 'utf16le').digest('base64url')
}
