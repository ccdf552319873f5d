const ESCAPE = '\u0002'
const REPLACEMENT = '\ufffd'
/** Past `ESCAPE`, so that the escaped ones keep their order. */
const FIRST_ESCAPED = 3
/** Follows U+FFFD itself. */
const WHOLE = 6
const FIRST_HALF = 0xd800
const LAST_HALF = 0xdfff
/** Where escaped halves begin: 2,048 characters that are none of them. */
const FIRST_PLACE = 0x800
const PRINTABLE = /^[ -~]*$/

/**
 * `text` so that it can stand in another: without U+0000 and U+0001, which are free for what stands around it, and
 * without halves of surrogate pairs, which UTF-8 writes all alike. It has the escaped forms of its prefixes as prefixes,
 * and the order of bytes in UTF-8, in which a lone half stands beside U+FFFD. At most 7 bytes for 3.
 */
export function escapedText(text: string): string {
  return PRINTABLE.test(text) ? text : Array.from(text, escapedChar).join('')
}

/** The text of which `escaped` was made. */
export function textOf(escaped: string): string {
  if (PRINTABLE.test(escaped)) return escaped
  const [first, ...others] = escaped.split(ESCAPE)
  return others.reduce((text, other) => unescaped(text, other.charCodeAt(0)) + other.slice(1), first)
}

/** `text` and what `code` after an escape makes of its end. */
function unescaped(text: string, code: number): string {
  if (code === WHOLE) return text
  if (code < FIRST_PLACE) return text + String.fromCharCode(code - FIRST_ESCAPED)
  return text.slice(0, -REPLACEMENT.length) + String.fromCharCode(code - FIRST_PLACE + FIRST_HALF)
}

function escapedChar(char: string): string {
  const code = char.codePointAt(0) ?? 0
  if (code <= ESCAPE.charCodeAt(0)) return ESCAPE + String.fromCharCode(code + FIRST_ESCAPED)
  if (char === REPLACEMENT) return REPLACEMENT + ESCAPE + String.fromCharCode(WHOLE)
  if (code < FIRST_HALF || code > LAST_HALF) return char
  return REPLACEMENT + ESCAPE + String.fromCharCode(code - FIRST_HALF + FIRST_PLACE)
}
