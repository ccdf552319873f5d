import { kindOf, parseTimerMs, SluiceError } from '@sluice/limiter-core/backend'
import { Redis, type RedisOptions } from 'ioredis'
import { errorListener } from './client-errors.ts'
import { reconnectDelays } from './reconnect-delays.ts'
import { reconnectOnReadonly } from './reconnect-on-readonly.ts'
import { watchSockets } from './socket-watch.ts'

/** Options of ioredis, but for the shape of replies: scripts are read as RESP2 would bring them. */
export interface CreateRedisOptions extends Omit<RedisOptions, 'replyMapping'> {
  /**
   * A connection on which nothing comes for so many ms while a reply is awaited is made anew; default: 1,000. Time in
   * which the process stands still does not count, unlike with ioredis, which does not see this option.
   */
  readonly socketTimeout?: number | undefined
  /** Hears of every error of a connection: refused, cut, `LOADING`, a wrong password. Without it they are silent. */
  readonly onError?: ((error: Error) => void) | undefined
}

/**
 * No answer for so many ms while one is awaited: the socket is dead. Nothing else finds out, since a path that swallows
 * packets never closes it, and a request's own deadline ends the wait but not the socket.
 */
const SOCKET_TIMEOUT_MS = 1_000

/** Options of one connection that survives a server which is slow, silent, or gone. Each can be given another value. */
export const survivingOptions = (): Omit<RedisOptions, 'replyMapping'> => ({
  // a path that swallows packets answers no connect either; the default waits 10 s for it
  connectTimeout: 1_000,
  // how long a socket that was told to close may stay half open
  disconnectTimeout: 500,
  // finds a peer that vanished while nothing was awaited
  keepAlive: 10_000,
  // a command for a server that is not there fails at once: queued, it would hold its request, and count too late
  enableOfflineQueue: false,
  // a command whose connection broke fails with it. Sent again it might count twice; and in ioredis 6.0.0 this and
  // nothing else settles it, once it is not to be sent again
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // not ready before the data is read from disk: `LOADING` would fail every command until then
  enableReadyCheck: true,
  // how often a server that is loading is asked; the default believes what it says, up to 10 s
  maxLoadingRetryTime: 500,
  reconnectOnError: reconnectOnReadonly(),
  // what is sent in one turn is gathered before it gets here, for less
  enableAutoPipelining: false,
  // no `commandTimeout`: every wait has a deadline of its own, and `watchSockets` ends what stays unanswered, so a timer
  // for each command would only cost. No `socketTimeout`: it also ends what was answered while the process stood still
})

/** What a Sentinel connection needs besides. */
const survivingSentinels = {
  // a Sentinel that hangs must not hang the search; the default waits for ever
  sentinelCommandTimeout: 1_000,
  // asks all Sentinels again, twice a second in the end, as long as none names a primary. The first time comes soon: it
  // also comes whenever the list of them was gone through
  sentinelRetryStrategy: (attempt: number): number => Math.min(10 * 2 ** attempt, 500),
} as const satisfies RedisOptions

/**
 * A client of ioredis that recovers within two seconds of any fault, gives up never, connects at most twice a second,
 * and leaves no command unsettled for longer than `socketTimeout`. `target` is `redis://[user:password@]host[:port][/db]`,
 * `rediss://…` for TLS, or the absolute path of a socket; or options of ioredis, such as `{ name, sentinels }`. What
 * `options` say wins. A server that is not there is no error: commands fail until it is.
 *
 * Throws `SLUICE_BAD_OPTION` for a target that is none, `SLUICE_BAD_DURATION` for a `socketTimeout` that is none.
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
    `createRedis: expected redis://host:6379/0, rediss:// or the absolute path of a socket, received ${parsed ? 'a url of something else' : 'a text that is no url'}`,
  )
}

/** For how long a socket may be silent. Throws `SLUICE_BAD_DURATION`. */
export function silentMs(owner: string, socketTimeout: number | undefined): number {
  return parseTimerMs(socketTimeout ?? SOCKET_TIMEOUT_MS, `${owner}: socketTimeout`)
}

/** Throws `SLUICE_BAD_OPTION` unless they are an object. */
export function checkedOptions<T extends object>(owner: string, options: T): T {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${owner}: expected a url or options of ioredis, received ${kindOf(options)}`,
  )
}
