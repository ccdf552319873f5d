const ESCAPE = '\u0002'
const REPLACEMENT = '\ufffd'
/** Added to an escaped code. Escaped characters stay above `ESCAPE` and keep their order. */
const CODE_OFFSET = 3
/** Marks a U+FFFD that is in the original string, not the replacement of a lone surrogate. */
const LITERAL = 6
const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff
/** Escaped lone surrogates are mapped to the 2,048 characters from U+0800, none of which is a surrogate. */
const SURROGATE_BASE = 0x800
const PRINTABLE = /^[ -~]*$/

/**
 * Returns `text` in a form that can be embedded in an id: without U+0000 and U+0001, which remain free as separators,
 * and without lone surrogates, which UTF-8 encodes as the same bytes. Escaped prefixes of `text` are prefixes of the
 * result, and the order of UTF-8 bytes is kept, with lone surrogates next to U+FFFD. 3 bytes become at most 7.
 */
export function escapedId(text: string): string {
  return PRINTABLE.test(text) ? text : Array.from(text, escapedChar).join('')
}

/** Returns the string that `escapedId` encoded. */
export function unescapedId(escaped: string): string {
  if (PRINTABLE.test(escaped)) return escaped
  const [first, ...others] = escaped.split(ESCAPE)
  return others.reduce((text, other) => unescaped(text, other.charCodeAt(0)) + other.slice(1), first)
}

/** Appends to `text` the character that follows an escape as `code`; a surrogate replaces the U+FFFD at the end. */
function unescaped(text: string, code: number): string {
  if (code === LITERAL) return text
  if (code < SURROGATE_BASE) return text + String.fromCharCode(code - CODE_OFFSET)
  return text.slice(0, -REPLACEMENT.length) + String.fromCharCode(code - SURROGATE_BASE + FIRST_SURROGATE)
}

function escapedChar(char: string): string {
  const code = char.codePointAt(0) ?? 0
  if (code <= ESCAPE.charCodeAt(0)) return ESCAPE + String.fromCharCode(code + CODE_OFFSET)
  if (char === REPLACEMENT) return REPLACEMENT + ESCAPE + String.fromCharCode(LITERAL)
  if (code < FIRST_SURROGATE || code > LAST_SURROGATE) return char
  return REPLACEMENT + ESCAPE + String.fromCharCode(code - FIRST_SURROGATE + SURROGATE_BASE)
}
