import type { Backend } from '@sluice/limiter-core'
import type { RowStore } from '@sluice/stores'

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

/** How an application connects to each store. Nothing is sent before the first decision. A client is loaded if needed. */
const STORES = {
  async postgres(port: number, options: Options): Promise<OpenedBackend> {
    const [{ postgresBackend }, { Pool }] = await Promise.all([import('@sluice/postgres'), import('pg')])
    const server = { host: HOST, port, user: 'postgres', database: 'postgres' }
    const pool = new Pool({ ...server, connectionTimeoutMillis: 1_000, ...options })
    return { backend: postgresBackend(pool, { durable: true }), close: () => void pool.end() }
  },
  async mysql(port: number, options: Options): Promise<OpenedBackend> {
    const [{ mysqlStore }, { createPool }] = await Promise.all([
      import('@sluice/stores/mysql'),
      import('mysql2/promise'),
    ])
    const server = { host: HOST, port, user: 'limits', database: 'limits' }
    const pool = createPool({ ...server, connectTimeout: 1_000, ...options })
    return { backend: await backendOf(mysqlStore(pool), 'mysql'), close: () => void pool.end() }
  },
  async memcached(port: number, options: Options): Promise<OpenedBackend> {
    const [{ memcachedStore }, { MemcacheClient }] = await Promise.all([
      import('@sluice/stores/memcached'),
      import('memcache-client'),
    ])
    const limits = { cmdTimeout: 1_000, connectTimeout: 1_000 }
    const client = new MemcacheClient({ server: `${HOST}:${port}`, noDelay: true, ...limits, ...options })
    return { backend: await backendOf(memcachedStore(client), 'memcached'), close: () => client.shutdown() }
  },
  async dynamodb(port: number, options: Options): Promise<OpenedBackend> {
    const [{ dynamoStore }, { dynamoClient }] = await Promise.all([
      import('@sluice/stores/dynamodb'),
      import('../../stores/dynamo-client.ts'),
    ])
    // no repetition of the client fits into the deadline
    const client = dynamoClient(port, { maxAttempts: 1, ...options })
    return { backend: await backendOf(dynamoStore(client), 'dynamodb'), close: () => client.destroy() }
  },
} as const

async function backendOf(store: RowStore, name: string): Promise<Backend> {
  const { storeBackend } = await import('@sluice/stores')
  return storeBackend(store, { name })
}

/** Connects to a store, with additional options of its client. */
export function openedBackend({ store, port }: StoreAddress, options: Options): Promise<OpenedBackend> {
  return STORES[store](port, options)
}
