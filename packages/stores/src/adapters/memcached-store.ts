import type { Change, Row, RowStore, RowWriteOptions } from '@sluice/fleet/backend'
import { badOption, type Clock, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { hmacSha256 } from '@sluice/limiter-core/keyed-hash'

/** The part of a `MemcacheClient` of `memcache-client` that `memcachedStore` uses. */
export interface MemcachedClient {
  gets(keys: string[]): Promise<unknown>
  add(key: string, value: Buffer, options: { readonly lifetime: number }): Promise<unknown>
  cas(key: string, value: Buffer, options: { readonly lifetime: number; readonly casUniq: string }): Promise<unknown>
}

export interface MemcachedStoreOptions {
  /** Clock whose `wall` is used for rows that are kept for more than 30 days. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
}

/** Answers to a write of a row with another version, as the messages of the client's errors. */
const REFUSALS: readonly unknown[] = ['NOT_STORED', 'EXISTS', 'NOT_FOUND']
/** Longest expiry in seconds that is relative; memcached takes a larger number for a Unix time. */
const MAX_RELATIVE_S = 30 * 86_400
/** Largest expiry that memcached stores, in the year 2038. */
const MAX_EXPIRY_S = 2 ** 31 - 1
const MAX_KEY = 250
/** Length of the start of a long key. Its hash follows. */
const KEY_START = 150

/**
 * Creates a store in memcached, which writes one row at a time: a limiter on it has one policy and no ban. `client` is a
 * `MemcacheClient` of `memcache-client`, which the caller shuts down. Counts use the clock of each process. Throws
 * `SLUICE_BAD_OPTION`.
 */
export function memcachedStore(client: MemcachedClient, options: MemcachedStoreOptions = {}): RowStore {
  const { clock } = optionsOf('memcachedStore', options, ['clock'])
  if (['gets', 'add', 'cas'].some((method) => typeof client?.[method as keyof MemcachedClient] !== 'function')) {
    throw badOption('memcachedStore: client', client, 'a client of memcache-client')
  }
  return new MemcachedStore(client, clockOf(clock))
}

class MemcachedStore implements RowStore {
  readonly maxRows = 1
  readonly #client: MemcachedClient
  readonly #clock: Clock

  constructor(client: MemcachedClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  async read(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    if (keys.length === 0) return []
    const stored = keys.map(storedKey)
    const items = (await this.#client.gets(stored)) as Readonly<Record<string, { value: unknown; casUniq: string }>>
    return stored.map((key) => {
      if (!Object.hasOwn(items, key)) return undefined
      const { value, casUniq } = items[key]
      // a value of another program is text or JSON, and no row has such bytes
      return { cells: value instanceof Uint8Array ? value : new Uint8Array(), version: casUniq }
    })
  }

  async write([change]: readonly Change[], { ttlMs }: RowWriteOptions): Promise<boolean> {
    if (!change) return true
    const lifetime = this.#lifetimeOf(ttlMs)
    const [key, value] = [storedKey(change.key), Buffer.from(change.cells)]
    try {
      const answer = await (change.version === undefined
        ? this.#client.add(key, value, { lifetime })
        : this.#client.cas(key, value, { lifetime, casUniq: String(change.version) }))
      if (String(answer) === 'STORED') return true
    } catch (error) {
      if (REFUSALS.includes((error as Error | undefined)?.message)) return false
      throw error
    }
    throw new Error('memcached did not answer a write with STORED')
  }

  /** Returns the expiry for memcached in seconds. Its clock has whole seconds, so that a row may lose part of one. */
  #lifetimeOf(ttlMs: number): number {
    const seconds = Math.ceil(ttlMs / 1_000) + 1
    if (seconds <= MAX_RELATIVE_S) return seconds
    return Math.min(MAX_EXPIRY_S, Math.ceil(this.#clock.wall() / 1_000) + seconds)
  }
}

/** Returns a key of at most 250 bytes without spaces and control characters. */
function storedKey(key: string): string {
  const encoded = encodeURI(key)
  if (encoded.length <= MAX_KEY) return encoded
  const hash = Buffer.from(hmacSha256('sluice', key)).toString('hex')
  // no encoded key has these two characters in a row
  return `${encoded.slice(0, KEY_START)}%#${hash}`
}
