import { kindOf, SluiceError } from '@sluice/limiter-core/backend'
import { Cluster, type ClusterOptions, type Redis } from 'ioredis'
import { errorListener } from './client-errors.ts'
import { checkedOptions, silentMs, survivingOptions } from './create-redis.ts'
import { reconnectDelays } from './reconnect-delays.ts'
import { watchSockets } from './socket-watch.ts'

/** A first node, from which the client learns the others. */
export interface RedisClusterNode {
  readonly host: string
  /** Default: 6379. */
  readonly port?: number
}

export interface CreateRedisClusterOptions extends Omit<ClusterOptions, 'redisOptions'> {
  /** Options of the connection to each node; its `socketTimeout` is the one of `createRedis`. */
  readonly redisOptions?: Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'> | undefined
  /** Called when no node answers. Default: errors are ignored. */
  readonly onError?: ((error: Error) => void) | undefined
}

const survivingClusterOptions = {
  enableOfflineQueue: false,
  // sent again after its connection broke, a command that had arrived would count twice
  retryDelayOnFailover: 0,
  // a shard without a primary fails its commands at once, and only its own
  retryDelayOnClusterDown: 0,
  // a slot that is being moved answers soon; the command was not run
  retryDelayOnTryAgain: 20,
} as const satisfies ClusterOptions

/**
 * Creates a Redis Cluster client that survives the same failures as `createRedis`. `nodes` are some of its nodes.
 * Passwords and TLS are options of every node: `{ redisOptions: { password, tls: {} } }`. `options` take precedence.
 *
 * Throws `SLUICE_BAD_OPTION` if `nodes` is not a non-empty array of `{ host, port }`.
 */
export function createRedisCluster(
  nodes: readonly RedisClusterNode[],
  options: CreateRedisClusterOptions = {},
): Cluster {
  if (!Array.isArray(nodes) || nodes.length === 0 || nodes.some((node) => typeof node?.host !== 'string')) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `createRedisCluster: expected [{ host, port }, …], received ${kindOf(nodes)}`,
    )
  }
  const {
    onError,
    redisOptions: { socketTimeout, ...redisOptions } = {},
    ...given
  } = checkedOptions('createRedisCluster', options)
  const listener = errorListener('createRedisCluster', onError)
  const mostMs = silentMs('createRedisCluster', socketTimeout)
  const startup = nodes.map(({ host, port = 6379 }) => ({ host, port }))
  const { enableOfflineQueue, ...surviving } = survivingOptions()
  const cluster = new Cluster(startup, {
    ...survivingClusterOptions,
    clusterRetryStrategy: reconnectDelays(),
    redisOptions: { ...surviving, ...redisOptions },
    ...given,
  })
  cluster.on('+node', (node: Redis) => watchSockets(node, mostMs))
  return cluster.on('error', listener)
}
