/** Maximum length of any displayed text, in characters. */
export const LONGEST_TEXT = 128

// read more than is displayed: decoding may drop characters
const READ = 4 * LONGEST_TEXT

/**
 * Shortens a text to 128 characters without splitting surrogate pairs. The result does not share memory with the input.
 */
export function boundedText(text: string): string {
  const head = Buffer.from(text.slice(0, READ)).toString()
  if (head.length <= LONGEST_TEXT) return head
  // the cut may have split a surrogate pair, so drop a trailing half
  const cut = head.slice(0, LONGEST_TEXT - 1).replace(/[\ud800-\udbff]$/, '')
  return Buffer.from(`${cut}…`).toString()
}
