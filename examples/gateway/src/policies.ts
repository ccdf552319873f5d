// The limits of this API, written once. They are data: what a key is and what a request costs is said where it is used.

/** Over every route, for each address. */
export const address = { name: 'address', limit: 100, window: '10s' } as const

/** Wrong passwords of an address; right ones are free. */
export const login = { name: 'login', limit: 5, window: '15m' } as const

/** Requests of an API key: both, or none. */
export const v1 = [
  { name: 'burst', limit: 10, window: '1s' },
  { name: 'sustained', limit: 30, window: '1m' },
] as const

/** What an address may search: a unit for every 10 results. */
export const search = { name: 'search', limit: 20, window: '10s' } as const

/** Words that an address may be sent. */
export const chat = { name: 'chat', algorithm: 'token-bucket', limit: 600, window: '1m', unit: 'words' } as const
/** Words that are taken before the first is sent. */
export const chatReserve = 50

/** Slow requests in progress, of the whole process. */
export const slow = { name: 'slow', limit: 2 } as const
