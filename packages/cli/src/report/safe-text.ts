import { safeText } from '../terminal/safe-text.ts'

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Returns a text that can be printed: unsafe characters are escaped, and what is longer than `longest` is cut. */
export function printable(text: string, longest: number = Number.POSITIVE_INFINITY): string {
  const isLong = text.length > longest
  const start = isLong ? text.slice(0, longest - 1) : text
  return isLong ? `${safeText(start)}…` : safeText(start)
}

/** Returns a text as HTML, for elements and quoted attributes. */
export function escapedHtml(text: string, longest?: number): string {
  return printable(text, longest).replace(/[&<>"']/g, (char) => HTML[char])
}
