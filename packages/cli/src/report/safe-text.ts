/**
 * Characters that control a terminal, or change the order or visibility of text: controls, format characters, surrogates
 * without a partner, unassigned characters, and separators of lines. Log lines contain whatever clients send.
 */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu
const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Returns a text that can be printed: unsafe characters are escaped, and what is longer than `longest` is cut. */
export function printable(text: string, longest: number = Number.POSITIVE_INFINITY): string {
  const isLong = text.length > longest
  const start = isLong ? text.slice(0, longest - 1) : text
  const safe = start.replace(UNSAFE, (char) => {
    const code = char.codePointAt(0) as number
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
  })
  return isLong ? `${safe}…` : safe
}

/** Returns a text as HTML, for elements and quoted attributes. */
export function escapedHtml(text: string, longest?: number): string {
  return printable(text, longest).replace(/[&<>"']/g, (char) => HTML[char])
}
