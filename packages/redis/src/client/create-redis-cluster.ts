import type { Cluster, ClusterOptions, Redis } from 'ioredis'
import { errorListener } from './client-errors.ts'
import { checkedOptions, resilientOptions } from './create-redis.ts'
import { loadIoredis } from './load-ioredis.ts'
import { reconnectDelays } from './reconnect-delays.ts'
import { type ServerAddress, serverAddresses } from './server-addresses.ts'
import { socketTimeoutMs } from './socket-timeout.ts'
import { watchSockets } from './socket-watch.ts'

/** A node to connect to first. The client discovers the other nodes from it. Default port: 6379. */
export type RedisClusterNode = ServerAddress

export interface CreateRedisClusterOptions extends Omit<ClusterOptions, 'redisOptions'> {
  /** Options of the connection to each node. `socketTimeout` has the same meaning as in `createRedis`. */
  readonly redisOptions?: Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'> | undefined
  /** Called with an error when no node can be reached. Default: such errors are ignored. */
  readonly onError?: ((error: Error) => void) | undefined
}

const survivingClusterOptions = {
  enableOfflineQueue: false,
  // no retry after a broken connection: a command that had already arrived would count twice
  retryDelayOnFailover: 0,
  // commands for a shard without a primary fail at once, other shards are not affected
  retryDelayOnClusterDown: 0,
  // a slot that is being migrated is available soon, and the command was not run
  retryDelayOnTryAgain: 20,
} as const satisfies ClusterOptions

/**
 * Creates an ioredis client for Redis Cluster that recovers from the same faults as `createRedis`. `nodes` are some
 * nodes of the cluster. Passwords and TLS are set for every node: `{ redisOptions: { password, tls: {} } }`. Each value
 * in `options` replaces a default of Sluice.
 *
 * Throws `SLUICE_BAD_OPTION` unless `nodes` is a non-empty array of `{ host, port }`.
 */
export function createRedisCluster(
  nodes: readonly RedisClusterNode[],
  options: CreateRedisClusterOptions = {},
): Cluster {
  const startup = serverAddresses('createRedisCluster: nodes', nodes, 6379)
  const {
    onError,
    redisOptions: { socketTimeout, ...redisOptions } = {},
    ...given
  } = checkedOptions('createRedisCluster: options', options)
  const listener = errorListener('createRedisCluster', onError)
  const mostMs = socketTimeoutMs('createRedisCluster', socketTimeout)
  const { enableOfflineQueue, ...surviving } = resilientOptions()
  const { Cluster } = loadIoredis()
  const cluster = new Cluster(startup, {
    ...survivingClusterOptions,
    clusterRetryStrategy: reconnectDelays(),
    redisOptions: { ...surviving, ...redisOptions },
    ...given,
  })
  cluster.on('+node', (node: Redis) => watchSockets(node, mostMs))
  return cluster.on('error', listener)
}
