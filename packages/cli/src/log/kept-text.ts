import { createHash } from 'node:crypto'

/** Length of the longest text that is kept unchanged. */
const LONGEST_KEPT = 256
const DIGEST_ROOM = 50

/**
 * Returns a text that is safe to keep: of one over 256 characters its start and a digest, and otherwise a copy, because a
 * slice of a chunk keeps the whole chunk in memory.
 */
export function keptText(text: string): string {
  return copied(boundedText(text))
}

/** Returns the text, or the start and a digest of one over 256 characters. */
export function boundedText(text: string): string {
  if (text.length <= LONGEST_KEPT) return text
  const digest = createHash('sha256').update(text, 'utf16le').digest('base64url')
  return `${text.slice(0, LONGEST_KEPT - DIGEST_ROOM)}…${digest}`
}

function copied(text: string): string {
  const copy = Buffer.from(text, 'latin1').toString('latin1')
  return copy === text ? copy : Buffer.from(text, 'utf16le').toString('utf16le')
}
