import type { Backend } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { storeBackend } from '@sluice/stores'
import { dynamoStore } from '@sluice/stores/dynamodb'
import { memcachedStore } from '@sluice/stores/memcached'
import { mysqlStore } from '@sluice/stores/mysql'
import { MemcacheClient } from 'memcache-client'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { dynamoClient } from '../../stores/dynamo-client.ts'

/** Address of a server other than Redis. */
export interface StoreAddress {
  readonly store: StoreName
  readonly port: number
}

/** A backend of an application. */
export interface OpenedBackend {
  readonly backend: Backend
  /** Closes the client of the backend. */
  close(): void
}

export type StoreName = keyof typeof STORES

type Options = Readonly<Record<string, unknown>>

const HOST = '127.0.0.1'

/** How an application connects to each store. Nothing is sent before the first decision. */
const STORES = {
  postgres(port: number, options: Options): OpenedBackend {
    const server = { host: HOST, port, user: 'postgres', database: 'postgres' }
    const pool = new Pool({ ...server, connectionTimeoutMillis: 1_000, ...options })
    return { backend: postgresBackend(pool, { durable: true }), close: () => void pool.end() }
  },
  mysql(port: number, options: Options): OpenedBackend {
    const server = { host: HOST, port, user: 'limits', database: 'limits' }
    const pool = createPool({ ...server, connectTimeout: 1_000, ...options })
    return { backend: storeBackend(mysqlStore(pool), { name: 'mysql' }), close: () => void pool.end() }
  },
  memcached(port: number, options: Options): OpenedBackend {
    const limits = { cmdTimeout: 1_000, connectTimeout: 1_000 }
    const client = new MemcacheClient({ server: `${HOST}:${port}`, noDelay: true, ...limits, ...options })
    return { backend: storeBackend(memcachedStore(client), { name: 'memcached' }), close: () => client.shutdown() }
  },
  dynamodb(port: number, options: Options): OpenedBackend {
    // no repetition of the client fits into the deadline
    const client = dynamoClient(port, { maxAttempts: 1, ...options })
    return { backend: storeBackend(dynamoStore(client), { name: 'dynamodb' }), close: () => client.destroy() }
  },
} as const

/** Connects to a store, with additional options of its client. */
export function openedBackend({ store, port }: StoreAddress, options: Options): OpenedBackend {
  return STORES[store](port, options)
}
