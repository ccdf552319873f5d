import { createRedis, createRedisCluster, type RedisClient, type scriptRunner } from '@sluice/redis'
import { createNodeRedis, createNodeRedisCluster, createNodeRedisSentinel } from '@sluice/redis/node-redis'
import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide'
/** A client of an application, and how to close it. */
export interface Connected {
  readonly client: Parameters<typeof scriptRunner>[0]
  close(): void
}

/** Address of a Redis server, of the Sentinels that know it, or of the nodes of a cluster. */
export type RedisAddress =
  | { readonly url: string }
  | { readonly name: string; readonly sentinels: { host: string; port: number }[] }
  | { readonly nodes: { host: string; port: number }[] }

type Connect = (address: RedisAddress, options: Readonly<Record<string, unknown>>) => Connected | Promise<Connected>

const CONNECTS: Readonly<Record<string, Connect>> = { ioredis, 'node-redis': nodeRedis, 'valkey-glide': glide }

/** Connects with the client that the environment names: REDIS_CLIENT, by default ioredis. */
export function connectRedis(address: RedisAddress, options: Readonly<Record<string, unknown>>): ReturnType<Connect> {
  return CONNECTS[process.env.REDIS_CLIENT ?? 'ioredis'](address, options)
}

function ioredis(address: RedisAddress, options: Readonly<Record<string, unknown>>): Connected {
  const client =
    'nodes' in address
      ? createRedisCluster(address.nodes, { redisOptions: options })
      : 'url' in address
        ? createRedis(address.url, options)
        : createRedis({ ...address, ...options })
  return { client: client as unknown as RedisClient, close: () => client.disconnect() }
}

function nodeRedis(address: RedisAddress, options: Readonly<Record<string, unknown>>): Connected {
  const node = { socket: options } as object
  const client =
    'nodes' in address
      ? createNodeRedisCluster(address.nodes, { defaults: node })
      : 'url' in address
        ? createNodeRedis(address.url, node)
        : createNodeRedisSentinel({ ...address, nodeClientOptions: node })
  return { client: client as unknown as RedisClient, close: () => void client.destroy() }
}

async function glide(address: RedisAddress): Promise<Connected> {
  if ('sentinels' in address) throw new Error('valkey-glide has no Sentinel')
  // as docs/redis.md recommends
  const connectionBackoff = { numberOfRetries: 1, factor: 250, exponentBase: 2 }
  const options = { lazyConnect: true, connectionBackoff }
  const client =
    'nodes' in address
      ? await GlideClusterClient.createClient({ addresses: [...address.nodes], ...options })
      : await GlideClient.createClient({ addresses: [addressOf(address.url)], ...options })
  return { client, close: () => client.close() }
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}
