// client keys can be arbitrarily long
const KEPT_KEY = 128

/** Returns the first 128 characters of a key. The result does not share memory with a longer input. */
export function boundedKey(key: string): string {
  return key.length <= KEPT_KEY ? key : Buffer.from(key.slice(0, KEPT_KEY), 'utf16le').toString('utf16le')
}
