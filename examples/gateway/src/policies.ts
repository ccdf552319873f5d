// The limits of this API as plain data. The key and the cost of a request are defined where a limit is used.

/** Limit per address, across all routes. */
export const address = { name: 'address', limit: 100, window: '10s' } as const

/** Wrong passwords per address; right ones are free. */
export const login = { name: 'login', limit: 5, window: '15m' } as const

/** Requests per API key: both policies are charged, or none. */
export const v1 = [
  { name: 'burst', limit: 10, window: '1s' },
  { name: 'sustained', limit: 30, window: '1m' },
] as const

/** Searches per address: one unit per 10 results. */
export const search = { name: 'search', limit: 20, window: '10s' } as const

/** Words sent per address. */
export const chat = { name: 'chat', algorithm: 'token-bucket', limit: 600, window: '1m', unit: 'words' } as const
/** Words reserved before the first word is sent. */
export const chatReserve = 50

/** Concurrent slow requests in the whole process. */
export const slow = { name: 'slow', limit: 2 } as const
