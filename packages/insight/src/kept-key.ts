// a longer key is cut, so that no text of a stranger is kept whole
const KEPT_KEY = 128

/** A key as it is kept: its first 128 characters, in memory of its own. */
export function keptKey(key: string): string {
  return key.length <= KEPT_KEY ? key : Buffer.from(key.slice(0, KEPT_KEY), 'utf16le').toString('utf16le')
}
