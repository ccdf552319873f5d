import { createClient, type RedisClientOptions, type RedisClientType } from 'redis'
import { errorListener } from '../client/client-errors.ts'
import { checkedOptions } from '../client/create-redis.ts'
import { isSocketPath, redisUrl } from '../client/redis-url.ts'
import { connecting } from './connecting.ts'
import { OPTIONS, withNodeRedisOptions } from './node-redis-options.ts'

const TARGET = `a Redis URL or ${OPTIONS}`

/** Options of `createClient` of node-redis. */
export interface CreateNodeRedisOptions extends RedisClientOptions {
  /**
   * Called with each connection error: connection refused, broken or silent, wrong password. Default: errors are
   * ignored.
   */
  readonly onError?: ((error: Error) => void) | undefined
}

/**
 * Creates a client of node-redis 5 or 6 that recovers from any fault within two seconds, and connects it. It never gives
 * up. `target` is `redis://[user:password@]host[:port][/db]`, `rediss://…` for TLS, the absolute path of a socket, or
 * options of node-redis. Each value in `options` replaces a default of Sluice (`nodeRedisOptions`); values in
 * `options.socket` replace single values of `socket`. An unavailable server is not an error: commands fail until it is
 * available.
 *
 * Throws `SLUICE_BAD_OPTION` if `target` or `options` is invalid, and `SLUICE_BAD_DURATION` if `socket.socketTimeout` is.
 */
export function createNodeRedis(
  target: string | CreateNodeRedisOptions,
  options: CreateNodeRedisOptions = {},
): RedisClientType {
  const first =
    typeof target === 'string' ? addressOf(target) : checkedOptions('createNodeRedis: target', target, TARGET)
  const second = checkedOptions('createNodeRedis: options', options, OPTIONS)
  const { onError, ...given } = { ...first, ...second }
  const listener = errorListener('createNodeRedis', onError)
  const socket = { ...first.socket, ...second.socket }
  const client = createClient(withNodeRedisOptions({ ...given, socket } as object) as RedisClientOptions)
  return connecting(client, listener) as unknown as RedisClientType
}

function addressOf(target: string): CreateNodeRedisOptions {
  return isSocketPath(target) ? { socket: { path: target, tls: false } } : { url: redisUrl('createNodeRedis', target) }
}
