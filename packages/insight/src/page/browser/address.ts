/** What the page shows, as its address says it. */
export type Place =
  | { readonly view: 'overview' | 'policies' | 'processes' | 'events' }
  | { readonly view: 'policy'; readonly policy: string }

const LISTS = ['policies', 'processes', 'events'] as const

export function placeOf(hash: string): Place {
  const [, first = '', ...rest] = hash.split('/')
  const name = decoded(rest.join('/'))
  if (first === 'policies' && name !== '') return { view: 'policy', policy: name }
  return { view: LISTS.find((list) => list === first) ?? 'overview' }
}

export function policyAddress(name: string): string {
  return `#/policies/${encodeURIComponent(wellFormed(name))}`
}

/** A name as an address can hold it: halves of surrogate pairs are replaced. */
export function wellFormed(name: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(name))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
