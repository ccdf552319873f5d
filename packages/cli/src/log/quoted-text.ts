const QUOTE = '"'
const BACKSLASH = 92
const ESCAPE = /\\(x[0-9a-fA-F]{2}|.)/g
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v' }

/** Returns the index of the quote that ends a quoted text which starts at `from`; -1 if there is none. */
export function endOfQuoted(line: string, from: number): number {
  let at = line.indexOf(QUOTE, from)
  while (at > from && isEscaped(line, at, from)) at = line.indexOf(QUOTE, at + 1)
  return at
}

/**
 * Returns a text without the escapes of Apache (`\"`, `\\`, `\n`) and nginx (`\x22`). Bytes above 127 that were escaped
 * are read as UTF-8.
 */
export function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  let hasBytes = false
  const plain = text.replace(ESCAPE, (_, sequence: string) => {
    if (sequence.length === 1) return CONTROLS[sequence] ?? sequence
    const code = Number.parseInt(sequence.slice(1), 16)
    hasBytes ||= code > 127
    return String.fromCharCode(code)
  })
  const isLatin1 = !/[^\0-\xff]/.test(plain)
  return hasBytes && isLatin1 ? Buffer.from(plain, 'latin1').toString('utf8') : plain
}

/** Whether an odd number of backslashes precedes the character. */
function isEscaped(line: string, at: number, from: number): boolean {
  let start = at
  while (start > from && line.charCodeAt(start - 1) === BACKSLASH) start--
  return (at - start) % 2 === 1
}
