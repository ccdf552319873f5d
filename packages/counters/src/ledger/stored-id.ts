// a backslash, NUL, and lone surrogates
const SPECIAL = /[\\\0]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const ESCAPED = /\\([\\0]|u[0-9a-f]{4})/g
const LAST_CODE_POINT = 0x10ffff

/**
 * Returns an id as a string that every database can store: NUL and lone surrogates, which PostgreSQL or UTF-8 cannot
 * represent, are escaped with backslashes, and so are backslashes.
 */
export function storedId(id: string): string {
  return id.replace(SPECIAL, (one) => {
    if (one === '\\') return '\\\\'
    return one === '\0' ? '\\0' : `\\u${one.charCodeAt(0).toString(16)}`
  })
}

/** Returns the id that `storedId` encoded. */
export function idOf(stored: string): string {
  return stored.replace(ESCAPED, (_, kind: string) => {
    if (kind === '\\') return '\\'
    return kind === '0' ? '\0' : String.fromCharCode(Number.parseInt(kind.slice(1), 16))
  })
}

/**
 * Compares ids by the UTF-8 bytes of their stored form, like a database. This is the order of code points, not of
 * UTF-16 code units.
 */
export function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(storedId(one)), Buffer.from(storedId(other)))
}

/**
 * Returns the first string, ordered by code points, after all strings that begin with `prefix`; undefined if there is
 * none.
 */
export function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (char) => char.codePointAt(0) ?? 0)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // surrogates are not characters
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
