// a backslash, NUL, and halves of surrogate pairs that stand alone
const SPECIAL = /[\\\0]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const ESCAPED = /\\([\\0]|u[0-9a-f]{4})/g
const LAST_CODE_POINT = 0x10ffff

/** An id as text that every database keeps: what UTF-8 or PostgreSQL has no place for is escaped, and so are escapes. */
export function storedId(id: string): string {
  return id.replace(SPECIAL, (one) => {
    if (one === '\\') return '\\\\'
    return one === '\0' ? '\\0' : `\\u${one.charCodeAt(0).toString(16)}`
  })
}

/** The id that is stored so. */
export function idOf(stored: string): string {
  return stored.replace(ESCAPED, (_, kind: string) => {
    if (kind === '\\') return '\\'
    return kind === '0' ? '\0' : String.fromCharCode(Number.parseInt(kind.slice(1), 16))
  })
}

/** By their bytes in UTF-8, as they are stored elsewhere: the order of their characters, and not of their UTF-16 units. */
export function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(storedId(one)), Buffer.from(storedId(other)))
}

/** The first text, in the order of code points, after all that begin with `prefix`; undefined where there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (char) => char.codePointAt(0) ?? 0)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // halves of pairs are no characters
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
