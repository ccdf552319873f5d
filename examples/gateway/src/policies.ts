// The limits of this API as plain data. The key and the cost of a request are defined where a limit is used.

/** Limit per address, across all routes. */
const address = { name: 'address', limit: 100, window: '10s' } as const

/** Wrong passwords per address; right ones are free. */
const login = { name: 'login', limit: 5, window: '15m' } as const

/** Requests per API key: both policies are charged, or none. */
const v1 = [
  { name: 'burst', limit: 10, window: '1s' },
  { name: 'sustained', limit: 30, window: '1m' },
] as const

/** Searches per address: one unit per 10 results. */
const search = { name: 'search', limit: 20, window: '10s' } as const

/** Words sent per address. */
const chat = { name: 'chat', algorithm: 'token-bucket', limit: 600, window: '1m', unit: 'words' } as const
/** Words reserved before the first word is sent. */
export const chatReserve = 50

/** Concurrent slow requests in the whole process. */
const slow = { name: 'slow', limit: 2 } as const

/** The limits of one site. `site` is in front of their names, so that a page which shows several sites shows them apart. */
export function policiesOf(site?: string) {
  const named = <T extends { readonly name: string }>(policy: T): T =>
    site === undefined ? policy : { ...policy, name: `${site}-${policy.name}` }
  return {
    address: named(address),
    login: named(login),
    v1: v1.map(named),
    search: named(search),
    chat: named(chat),
    slow: named(slow),
  }
}
