/** Characters of any text that is shown. */
export const LONGEST_TEXT = 128

// more than is shown, so that what makes a text shorter has enough of it
const READ = 4 * LONGEST_TEXT

/** At most 128 characters, without halves of surrogate pairs, in memory of its own. */
export function boundedText(text: string): string {
  const head = Buffer.from(text.slice(0, READ)).toString()
  if (head.length <= LONGEST_TEXT) return head
  // bytes again: the cut may have gone through a pair
  const cut = head.slice(0, LONGEST_TEXT - 1).replace(/[\ud800-\udbff]$/, '')
  return Buffer.from(`${cut}…`).toString()
}
