/** How much of the past a chart shows. */
export type Span = 'hour' | 'day'

/** What the page shows, as its address says it. */
export type Place = { readonly span: Span } & (
  | { readonly view: 'overview' | 'policies' | 'sources' | 'processes' | 'events' }
  | { readonly view: 'policy'; readonly policy: string }
)

const LISTS = ['policies', 'sources', 'processes', 'events'] as const

export function placeOf(hash: string): Place {
  const [path, query] = hash.split('?')
  const [, first = '', ...rest] = path.split('/')
  const span = new URLSearchParams(query).get('span') === 'day' ? 'day' : 'hour'
  const name = decoded(rest.join('/'))
  if (first === 'policies' && name !== '') return { view: 'policy', policy: name, span }
  return { view: LISTS.find((list) => list === first) ?? 'overview', span }
}

/** Where the chart of a policy, or of all, is shown over that span. */
export function spanAddress(span: Span, policy?: string): string {
  const address = policy === undefined ? '#/' : policyAddress(policy)
  return span === 'hour' ? address : `${address}?span=${span}`
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
