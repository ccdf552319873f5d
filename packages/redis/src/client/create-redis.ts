import { kindOf, SluiceError } from '@sluice/limiter-core/backend'
import type { Redis, RedisOptions } from 'ioredis'
import { errorListener } from './client-errors.ts'
import { loadIoredis } from './load-ioredis.ts'
import { reconnectDelays } from './reconnect-delays.ts'
import { reconnectOnReadonly } from './reconnect-on-readonly.ts'
import { redisUrl } from './redis-url.ts'
import { socketTimeoutMs } from './socket-timeout.ts'
import { watchSockets } from './socket-watch.ts'

/** Options of ioredis, without `replyMapping`: Sluice reads the replies of scripts in the form of RESP2. */
export interface CreateRedisOptions extends Omit<RedisOptions, 'replyMapping'> {
  /**
   * Milliseconds without any data, while a reply is pending, after which the connection is replaced. Default: 1,000.
   * Sluice implements this itself and does not pass it to ioredis: time in which the event loop was blocked does not
   * count.
   */
  readonly socketTimeout?: number | undefined
  /**
   * Called with each connection error: connection refused or broken, `LOADING`, wrong password. Default: errors are
   * ignored.
   */
  readonly onError?: ((error: Error) => void) | undefined
}

/** Returns options for a connection that recovers from a slow, silent or stopped server. Users may override each. */
export const resilientOptions = (): Omit<RedisOptions, 'replyMapping'> => ({
  // a path that drops packets also drops the attempt to connect; the default is 10 s
  connectTimeout: 1_000,
  // limits how long a socket stays half open after a disconnect
  disconnectTimeout: 500,
  // detects a peer that vanished while no reply was pending
  keepAlive: 10_000,
  // commands fail at once while the server is unavailable: queued, they would delay their request and count too late
  enableOfflineQueue: false,
  // commands fail when their connection breaks: sent again, they might count twice. In ioredis 6.0.0 only
  // `maxRetriesPerRequest` settles pending commands if they are not resent
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // wait until the server has loaded its data: every command before that would fail with `LOADING`
  enableReadyCheck: true,
  // interval between ready checks of a loading server; by default the server's own estimate, up to 10 s
  maxLoadingRetryTime: 500,
  reconnectOnError: reconnectOnReadonly(),
  // Sluice itself combines the requests of one turn of the event loop, at a lower cost
  enableAutoPipelining: false,
  // No `commandTimeout`: every wait has its own deadline and `watchSockets` closes silent sockets, so a timer per
  // command would be wasted. No `socketTimeout`: it also closes connections whose reply arrived while the process was
  // blocked.
})

/** Additional options for a connection through Sentinels. */
const survivingSentinels = {
  // a Sentinel that hangs must not block the search for the primary; the default is no timeout
  sentinelCommandTimeout: 1_000,
  // delay before all Sentinels are queried again, up to 500 ms while none names a primary. The first delay is short
  // because ioredis also applies it each time it reaches the end of the list
  sentinelRetryStrategy: (attempt: number): number => Math.min(10 * 2 ** attempt, 500),
} as const satisfies RedisOptions

/**
 * Creates an ioredis client that recovers from any fault within two seconds. It never gives up, connects at most twice
 * a second, and settles every command within `socketTimeout`. `target` is `redis://[user:password@]host[:port][/db]`,
 * `rediss://…` for TLS, the absolute path of a socket, or ioredis options such as `{ name, sentinels }`. Each value in
 * `options` replaces a default of Sluice. An unavailable server is not an error: commands fail until it is available.
 *
 * Throws `SLUICE_BAD_OPTION` if `target` or `options` is invalid, and `SLUICE_BAD_DURATION` if `socketTimeout` is.
 */
export function createRedis(target: string | CreateRedisOptions, options: CreateRedisOptions = {}): Redis {
  const { onError, socketTimeout, ...given } =
    typeof target === 'string'
      ? checkedOptions('createRedis: options', options)
      : {
          ...checkedOptions('createRedis: target', target, 'a Redis URL or an object with ioredis options'),
          ...checkedOptions('createRedis: options', options),
        }
  const listener = errorListener('createRedis', onError)
  const mostMs = socketTimeoutMs('createRedis', socketTimeout)
  const surviving: Omit<RedisOptions, 'replyMapping'> = {
    ...resilientOptions(),
    retryStrategy: reconnectDelays(),
    ...(given.sentinels ? survivingSentinels : {}),
    ...given,
  }
  const { Redis } = loadIoredis()
  const client =
    typeof target === 'string' ? new Redis(redisUrl('createRedis', target), surviving) : new Redis(surviving)
  watchSockets(client, mostMs)
  return client.on('error', listener)
}

/** Returns `options`; throws `SLUICE_BAD_OPTION` unless they are an object. */
export function checkedOptions<T extends object>(
  option: string,
  options: T,
  expected = 'an object with ioredis options',
): T {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options
  throw new SluiceError('SLUICE_BAD_OPTION', `${option}: expected ${expected}, received ${kindOf(options)}`)
}
