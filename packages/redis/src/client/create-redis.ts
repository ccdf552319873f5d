import { kindOf, parseTimerMs, SluiceError } from '@sluice/limiter-core/backend'
import { Redis, type RedisOptions } from 'ioredis'
import { errorListener } from './client-errors.ts'
import { reconnectDelays } from './reconnect-delays.ts'
import { reconnectOnReadonly } from './reconnect-on-readonly.ts'
import { watchSockets } from './socket-watch.ts'

/** Options of ioredis, except the shape of replies: scripts expect replies as in RESP2. */
export interface CreateRedisOptions extends Omit<RedisOptions, 'replyMapping'> {
  /**
   * Milliseconds after which a connection that receives nothing while a reply is expected is replaced. Default:
   * 1,000. Unlike the ioredis option, it does not count time in which the process is suspended; ioredis does not
   * receive this option.
   */
  readonly socketTimeout?: number | undefined
  /** Called for every error of a connection: refused, cut, `LOADING`, wrong password. Default: errors are ignored. */
  readonly onError?: ((error: Error) => void) | undefined
}

/**
 * Time without data after which a socket counts as dead while a reply is expected. Nothing else detects that, because
 * a path that drops packets never closes the socket, and the deadline of a request ends the wait but not the socket.
 */
const SOCKET_TIMEOUT_MS = 1_000

/** Options of a connection that survives a slow, silent or missing server. Each can be overridden. */
export const survivingOptions = (): Omit<RedisOptions, 'replyMapping'> => ({
  // a path that drops packets does not answer a connect either; the default waits 10 s
  connectTimeout: 1_000,
  // how long a closing socket may stay half open
  disconnectTimeout: 500,
  // finds a peer that vanished while nothing was awaited
  keepAlive: 10_000,
  // a command for a server that is not there fails at once: queued, it would hold its request, and count too late
  enableOfflineQueue: false,
  // a command fails with its connection. If it were resent it might count twice; and in ioredis 6.0.0 only this setting
  // settles it if it is not resent
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // not ready before the data is read from disk: `LOADING` would fail every command until then
  enableReadyCheck: true,
  // how often a loading server is asked; the default trusts the server's estimate, up to 10 s
  maxLoadingRetryTime: 500,
  reconnectOnError: reconnectOnReadonly(),
  // the commands of one turn have already been batched, at a lower cost
  enableAutoPipelining: false,
  // no `commandTimeout`: every wait has its own deadline, and `watchSockets` ends what stays unanswered, so a timer per
  // command would only cost time. No `socketTimeout`: it would also end connections whose replies arrived while the
  // process was suspended
})

/** Additional options of a Sentinel connection. */
const survivingSentinels = {
  // a hanging Sentinel must not stall the search; the default waits forever
  sentinelCommandTimeout: 1_000,
  // asks all Sentinels again, eventually twice per second, while none of them names a primary. The first retry comes
  // soon, because it also occurs whenever the end of the list is reached
  sentinelRetryStrategy: (attempt: number): number => Math.min(10 * 2 ** attempt, 500),
} as const satisfies RedisOptions

/**
 * Creates an ioredis client that recovers from any fault within two seconds, never gives up, connects at most twice
 * per second, and leaves no command unsettled for longer than `socketTimeout`. `target` is
 * `redis://[user:password@]host[:port][/db]`, `rediss://...` for TLS, the absolute path of a socket, or ioredis
 * options such as `{ name, sentinels }`. `options` take precedence. A missing server is not an error: commands fail
 * until it is available.
 *
 * Throws `SLUICE_BAD_OPTION` for an invalid target, `SLUICE_BAD_DURATION` for an invalid `socketTimeout`.
 */
export function createRedis(target: string | CreateRedisOptions, options: CreateRedisOptions = {}): Redis {
  const { onError, socketTimeout, ...given } =
    typeof target === 'string'
      ? checkedOptions('createRedis', options)
      : { ...checkedOptions('createRedis', target), ...checkedOptions('createRedis', options) }
  const listener = errorListener('createRedis', onError)
  const mostMs = silentMs('createRedis', socketTimeout)
  const surviving: Omit<RedisOptions, 'replyMapping'> = {
    ...survivingOptions(),
    retryStrategy: reconnectDelays(),
    ...(given.sentinels ? survivingSentinels : {}),
    ...given,
  }
  const client = typeof target === 'string' ? new Redis(redisUrl(target), surviving) : new Redis(surviving)
  watchSockets(client, mostMs)
  return client.on('error', listener)
}

/** `url` where it is one of Redis. Never shows it: it may hold a password. */
function redisUrl(url: string): string {
  if (/^\/[^/]/.test(url)) return url
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const fits = parsed && /^rediss?:$/.test(parsed.protocol) && parsed.hostname && /^(\/\d*)?$/.test(parsed.pathname)
  if (fits) return url
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `createRedis: expected redis://host:6379/0, rediss:// or the absolute path of a socket, received ${parsed ? 'another kind of URL' : 'a string that is not a URL'}`,
  )
}

/** Returns how long a socket may be silent. Throws `SLUICE_BAD_DURATION`. */
export function silentMs(owner: string, socketTimeout: number | undefined): number {
  return parseTimerMs(socketTimeout ?? SOCKET_TIMEOUT_MS, `${owner}: socketTimeout`)
}

/** Throws `SLUICE_BAD_OPTION` unless they are an object. */
export function checkedOptions<T extends object>(owner: string, options: T): T {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options
  throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: expected a URL or ioredis options, received ${kindOf(options)}`)
}
