import { createCluster, type RedisClusterOptions, type RedisClusterType } from 'redis'
import { errorListener } from '../client/client-errors.ts'
import { checkedOptions } from '../client/create-redis.ts'
import type { RedisClusterNode } from '../client/create-redis-cluster.ts'
import { serverAddresses } from '../client/server-addresses.ts'
import { recordSocketTimeout } from '../runners/silence-limit.ts'
import { connectingCluster } from './connecting.ts'
import { OPTIONS, withNodeRedisOptions } from './node-redis-options.ts'

/** Options of `createCluster` of node-redis. */
export interface CreateNodeRedisClusterOptions extends Omit<RedisClusterOptions, 'rootNodes'> {
  /** Called with each error of a connection. Default: errors are ignored. */
  readonly onError?: ((error: Error) => void) | undefined
}

/**
 * Creates a cluster client of node-redis 5 or 6 that recovers from the same faults as `createNodeRedis`, and connects
 * it. `nodes` are some nodes of the cluster. Passwords and TLS are set for every node in `options.defaults`. Each value
 * in `options` replaces a default of Sluice.
 *
 * Throws `SLUICE_BAD_OPTION` unless `nodes` is a non-empty array of `{ host, port }`.
 */
export function createNodeRedisCluster(
  nodes: readonly RedisClusterNode[],
  options: CreateNodeRedisClusterOptions = {},
): RedisClusterType {
  const owner = 'createNodeRedisCluster'
  const { onError, defaults = {}, ...given } = checkedOptions(`${owner}: options`, options, OPTIONS)
  const listener = errorListener(owner, onError)
  const surviving = withNodeRedisOptions(defaults as object)
  const rootNodes = serverAddresses(`${owner}: nodes`, nodes, 6379).map((socket) => ({ socket }))
  const cluster = createCluster({
    rootNodes,
    ...given,
    defaults: surviving,
  } as RedisClusterOptions)
  recordSocketTimeout(cluster, surviving.socket.socketTimeout)
  return connectingCluster(cluster, listener) as unknown as RedisClusterType
}
