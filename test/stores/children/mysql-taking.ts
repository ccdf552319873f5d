import { storeBackend } from '@sluice/stores'
import { mysqlStore } from '@sluice/stores/mysql'
import { createPool, type PoolOptions } from 'mysql2/promise'
import { Taker } from '../taker.ts'

let taker: Taker

/** Opens a pool. Further calls count in its database. */
export async function open(address: PoolOptions): Promise<void> {
  const store = mysqlStore(createPool(address))
  await store.migrate()
  taker = new Taker(storeBackend(store, { name: 'mysql' }))
}

export function takeMany(key: string, count: number, limit: number): Promise<number> {
  return taker.takeMany(key, count, limit)
}

export function rate(keys: number, callers: number, ms: number): Promise<number> {
  return taker.rate(keys, callers, ms)
}
