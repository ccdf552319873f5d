/** The period that a chart shows. */
export type Span = 'hour' | 'day'

/** View and parameters encoded in the address of the page. */
export type PageLocation = { readonly span: Span } & (
  | { readonly view: 'overview' | 'policies' | 'caps' | 'keys' | 'sources' | 'processes' | 'changes' | 'events' }
  | { readonly view: 'policy'; readonly policy: string }
  | { readonly view: 'cap'; readonly cap: string }
  | { readonly view: 'key'; readonly key: KeyName; readonly cost: number }
)

/** A key, or its id in a snapshot. */
export type KeyName = { readonly key: string } | { readonly id: string }

const LISTS = ['policies', 'caps', 'keys', 'sources', 'processes', 'changes', 'events'] as const

export function placeOf(hash: string): PageLocation {
  const [path, query] = hash.split('?')
  const [, first = '', ...rest] = path.split('/')
  const asked = new URLSearchParams(query)
  const span = asked.get('span') === 'day' ? 'day' : 'hour'
  const name = decoded(rest.join('/'))
  if (first === 'policies' && name !== '') return { view: 'policy', policy: name, span }
  if (first === 'caps' && name !== '') return { view: 'cap', cap: name, span }
  const key = first === 'keys' ? keyOf(rest) : undefined
  if (key !== undefined) return { view: 'key', key, cost: Number(asked.get('cost') ?? 1), span }
  return { view: LISTS.find((list) => list === first) ?? 'overview', span }
}

/** Returns the address of the chart of a policy, or of all policies, over a period. */
export function spanAddress(span: Span, policy?: string): string {
  const address = policy === undefined ? '#/' : policyAddress(policy)
  return span === 'hour' ? address : `${address}?span=${span}`
}

export function policyAddress(name: string): string {
  return `#/policies/${encodeURIComponent(wellFormed(name))}`
}

export function capAddress(name: string): string {
  return `#/caps/${encodeURIComponent(wellFormed(name))}`
}

export function keyAddress(name: KeyName, cost = 1): string {
  const [[kind, value]] = Object.entries(name)
  return `#/keys/${kind}/${encodeURIComponent(wellFormed(value))}${cost === 1 ? '' : `?cost=${cost}`}`
}

/** Replaces unpaired surrogates, which an address cannot contain. */
export function wellFormed(name: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(name))
}

function keyOf([kind, ...rest]: readonly string[]): KeyName | undefined {
  const value = decoded(rest.join('/'))
  if (value === '') return undefined
  return kind === 'id' ? { id: value } : kind === 'key' ? { key: value } : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
