/**
 * One key of several, each behind its length, so that ('a:b', 'c') and ('a', 'b:c') are two keys: `4:user7:content`. A
 * number is its text.
 */
export function joinedKey(...parts: readonly (string | number)[]): string {
  let key = ''
  for (const part of parts) {
    const text = String(part)
    key += `${text.length}:${text}`
  }
  return key
}
