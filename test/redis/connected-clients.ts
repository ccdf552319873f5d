import type { NodeRedisClient, RedisClient } from '@sluice/redis'
import { numberOfRuns } from '@sluice/testkit'
import { GlideClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { Redis as Valkey } from 'iovalkey'
import { createClient, createClientPool } from 'redis'
import { createClient as createClient5, createClientPool as createClientPool5 } from 'redis5'

export interface Connected {
  readonly client: RedisClient
  close(): void
}

async function ioredis(client: Redis | Redis5 | Valkey): Promise<Connected> {
  await client.connect()
  return { client, close: () => client.disconnect() }
}

async function nodeRedis(
  client: NodeRedisClient & { connect(): Promise<unknown>; destroy(): void },
): Promise<Connected> {
  await client.connect()
  return { client, close: () => client.destroy() }
}

async function glide(port: number): Promise<Connected> {
  const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }], requestTimeout: 20_000 })
  return { client, close: () => client.close() }
}

const urlOf = (port: number) => ({ url: `redis://127.0.0.1:${port}` })

/**
 * A pool of node-redis 5 that is closed while it opens connections rejects without a caller. By default a call waits 3 s
 * for a connection, which a busy machine exceeds.
 */
const POOL = { minimum: 4, maximum: 4, acquireTimeout: 20_000 }

/** Each client of a single server, connected to a port. */
const everyClient: readonly [string, (port: number) => Promise<Connected>][] = [
  ['ioredis 6', (port) => ioredis(new Redis({ port, lazyConnect: true }))],
  ['node-redis 6', (port) => nodeRedis(createClient(urlOf(port)))],
  ['valkey-glide', glide],
  ['ioredis 5', (port) => ioredis(new Redis5({ port, lazyConnect: true }))],
  ['iovalkey', (port) => ioredis(new Valkey({ port, lazyConnect: true }))],
  ['node-redis 5', (port) => nodeRedis(createClient5(urlOf(port)))],
  ['a pool of node-redis 6', (port) => nodeRedis(createClientPool(urlOf(port), POOL))],
  ['a pool of node-redis 5', (port) => nodeRedis(createClientPool5(urlOf(port), POOL))],
]

/** The clients that suites run with: in `npm test` one of each kind, and otherwise all. */
export const singleServerClients = everyClient.slice(0, numberOfRuns(12))

/** Options of the contract for a client: the first one passes it whole, and the others with fewer random histories. */
export function historiesOver(client: string): { readonly histories?: number } {
  return client === singleServerClients[0][0] ? {} : { histories: 2 }
}
