/** Maximum length of any displayed text, in characters. */
export const MAX_TEXT_LENGTH = 128

// read more than is displayed: decoding may drop characters
const READ = 4 * MAX_TEXT_LENGTH

/**
 * Shortens a text to 128 characters without splitting surrogate pairs. The result does not share memory with the input.
 */
export function boundedText(text: string): string {
  const head = Buffer.from(text.slice(0, READ)).toString()
  if (head.length <= MAX_TEXT_LENGTH) return head
  // the cut may have split a surrogate pair, so drop a trailing half
  const cut = head.slice(0, MAX_TEXT_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')
  return Buffer.from(`${cut}…`).toString()
}
