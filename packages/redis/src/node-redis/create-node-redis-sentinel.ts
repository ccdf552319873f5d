import { createSentinel, type RedisSentinelOptions, type RedisSentinelType } from 'redis'
import { errorListener } from '../client/client-errors.ts'
import { checkedOptions } from '../client/create-redis.ts'
import { reconnectDelay } from '../client/reconnect-delays.ts'
import { type ServerAddress, serverAddresses } from '../client/server-addresses.ts'
import { recordSocketTimeout } from '../runners/silence-limit.ts'
import { connecting } from './connecting.ts'
import { type NodeRedisOptions, OPTIONS, withNodeRedisOptions } from './node-redis-options.ts'

/** Options of `createSentinel` of node-redis. */
export interface CreateNodeRedisSentinelOptions extends Omit<RedisSentinelOptions, 'sentinelRootNodes'> {
  /** Some Sentinels. Default port: 26379. */
  readonly sentinels: readonly ServerAddress[]
  /** Called with each error of a connection. Default: errors are ignored. */
  readonly onError?: ((error: Error) => void) | undefined
}

/**
 * Creates a client of node-redis 5 or 6 that finds its server through Sentinels and recovers from the same faults as
 * `createNodeRedis`, and connects it. `nodeClientOptions` and `sentinelClientOptions` replace single defaults of Sluice,
 * for example passwords and TLS.
 *
 * Throws `SLUICE_BAD_OPTION` unless `options` has a `name`, and `sentinels` is a non-empty array of `{ host, port }`.
 */
export function createNodeRedisSentinel(options: CreateNodeRedisSentinelOptions): RedisSentinelType {
  const owner = 'createNodeRedisSentinel'
  const { onError, sentinels, ...given } = checkedOptions(`${owner}: options`, options, OPTIONS)
  const listener = errorListener(owner, onError)
  const sentinelRootNodes = serverAddresses(`${owner}: sentinels`, sentinels, 26379)
  const nodeClientOptions = withDefaults(given.nodeClientOptions)
  const sentinelClientOptions = withDefaults(given.sentinelClientOptions)
  const client = createSentinel({
    scanInterval: SCAN_MS,
    // the default gives up after 16 s without a server
    maxCommandRediscovers: Number.MAX_SAFE_INTEGER,
    passthroughClientErrorEvents: true,
    ...given,
    sentinelRootNodes,
    nodeClientOptions,
    sentinelClientOptions,
  } as RedisSentinelOptions)
  recordSocketTimeout(client, nodeClientOptions.socket.socketTimeout)
  return connecting(client, listener) as unknown as RedisSentinelType
}

/** How often the Sentinels are asked for the current server, in addition to their messages. The default is 10 s. */
const SCAN_MS = 1_000

/**
 * A client of node-redis 5 waits for a server to which it cannot connect, even if the Sentinels name another one by
 * then. So a connection is tried once more, and then the Sentinels are asked again.
 */
function reconnectOnce(retries: number): number | Error {
  return retries === 0 ? reconnectDelay(retries) : new Error('the server is away: asking the Sentinels again')
}

function withDefaults(given: RedisSentinelOptions['nodeClientOptions']): NodeRedisOptions {
  const socket: object = { reconnectStrategy: reconnectOnce, ...given?.socket }
  return withNodeRedisOptions({ ...given, socket })
}
