/** In front of an address that takes the place of a missing attribute. */
const ADDRESS_MARK = '\0address:'

/** Returns a key for people: `acme · GET /search` for a key that joins several attributes with their lengths. */
export function keyText(key: string, parts: number): string {
  if (parts === 1) return withoutMark(key)
  const texts: string[] = []
  let at = 0
  while (at < key.length) {
    const colon = key.indexOf(':', at)
    const length = Number(key.slice(at, colon))
    if (colon < 0 || !Number.isInteger(length)) return key // a long key, of which only the start is known
    texts.push(key.slice(colon + 1, colon + 1 + length))
    at = colon + 1 + length
  }
  return texts.map(withoutMark).join(' · ')
}

function withoutMark(part: string): string {
  return part.startsWith(ADDRESS_MARK) ? part.slice(ADDRESS_MARK.length) : part
}
