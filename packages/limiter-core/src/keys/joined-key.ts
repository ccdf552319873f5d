/**
 * Joins several parts into one key, such as `4:user7:content`. Each part is preceded by its length, so that
 * ('a:b', 'c') and ('a', 'b:c') are different keys. Numbers are converted to strings.
 */
export function joinedKey(...parts: readonly (string | number)[]): string {
  let key = ''
  for (const part of parts) {
    const text = String(part)
    key += `${text.length}:${text}`
  }
  return key
}
