import { storeBackend } from '@sluice/stores'
import { memcachedStore } from '@sluice/stores/memcached'
import { MemcacheClient } from 'memcache-client'
import { Taker } from '../taker.ts'

let taker: Taker

/** Opens a client. Further calls count on its server. */
export function open(server: string): void {
  taker = new Taker(storeBackend(memcachedStore(new MemcacheClient({ server, noDelay: true })), { name: 'memcached' }))
}

export function takeMany(key: string, count: number, limit: number): Promise<number> {
  return taker.takeMany(key, count, limit)
}

export function rate(keys: number, callers: number, ms: number): Promise<number> {
  return taker.rate(keys, callers, ms)
}
