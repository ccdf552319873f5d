import type { RedisClientOptions } from 'redis'
import { reconnectDelay } from '../client/reconnect-delays.ts'
import { socketTimeoutMs } from '../client/socket-timeout.ts'

/** What messages about options say that they expect. */
export const OPTIONS = 'an object with options of node-redis'

/** Options of node-redis that recover from a slow, silent or stopped server. */
export interface NodeRedisOptions extends Pick<RedisClientOptions, 'disableOfflineQueue' | 'pingInterval'> {
  readonly socket: {
    readonly connectTimeout: number
    readonly socketTimeout: number
    readonly keepAliveInitialDelay: number
    readonly reconnectStrategy: (retries: number) => number
  }
}

interface Given {
  readonly socket?: { readonly socketTimeout?: number } | undefined
}

/** Returns these options of a connection with the defaults of Sluice, also for the single values of `socket`. */
export function withNodeRedisOptions<Options extends Given>(given: Options): Options & NodeRedisOptions {
  const surviving = nodeRedisOptions(given.socket?.socketTimeout)
  return { ...surviving, ...given, socket: { ...surviving.socket, ...given.socket } }
}

/**
 * Returns options for a connection that recovers from a slow, silent or stopped server: for `createClient`, the
 * `defaults` of `createCluster`, `nodeClientOptions` and `sentinelClientOptions` of `createSentinel`. `socketTimeout` is
 * the number of milliseconds without any data after which a connection is replaced (default: 1,000).
 *
 * Throws `SLUICE_BAD_DURATION` if `socketTimeout` is invalid.
 */
export function nodeRedisOptions(socketTimeout?: number): NodeRedisOptions {
  const timeoutMs = socketTimeoutMs('nodeRedisOptions', socketTimeout)
  return {
    // commands fail at once while the server is unavailable: queued, they would delay their request and count too late
    disableOfflineQueue: true,
    // an idle connection would reach the socket timeout
    pingInterval: Math.ceil(timeoutMs / 3),
    socket: {
      // a path that drops packets also drops the attempt to connect; the default is 5 s
      connectTimeout: 1_000,
      // without it, a server that accepts commands and never replies is not noticed
      socketTimeout: timeoutMs,
      // detects a peer that vanished
      keepAliveInitialDelay: 10_000,
      // the default gives up after a socket timeout
      reconnectStrategy: reconnectDelay,
    },
  }
}
