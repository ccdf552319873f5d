import {
  type Answer,
  type Backend,
  type Clock,
  clockOf,
  optionalFunction,
  optionsOf,
  type ScriptRunner,
  SluiceError,
  shown,
} from '@sluice/limiter-core/backend'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from '../client/entity-key.ts'
import { KnownServers } from '../client/known-servers.ts'
import type { RedisClient } from '../client/redis-client.ts'
import { runnerOf } from '../client/script-runner.ts'
import { ExactBackend } from './exact-backend.ts'

export interface RedisBackendOptions extends EntityKeyOptions {
  /** The process clock, of deadlines alone: what is counted has the time of the server. */
  readonly clock?: Clock | undefined
  /**
   * For tests: a clock in ms instead of the server's. Keys then live ten minutes longer than they count, by the
   * server's time, and deadlines are not kept by the server.
   */
  readonly serverTime?: (() => number) | undefined
  /**
   * The most keys of one script call, 1 to 1,000; default: 32, which take Redis 0.1 ms, 0.3 ms with windows of 60
   * slices. Redis serves nobody else until a call is done. A request with more keys is one call all the same.
   */
  readonly maxBatch?: number | undefined
}

const OPTIONS = [...ENTITY_KEY_OPTIONS, 'clock', 'serverTime', 'maxBatch'] as const
/** The most keys of one script call, by default. */
export const DEFAULT_MAX_BATCH = 32
const MOST_MAX_BATCH = 1_000

/**
 * Counts in Redis, exactly: all processes together admit what one would. A request is one script call, whatever its
 * policies, and requests that come in one turn of the event loop share a call. Time is the server's.
 *
 * In a cluster all counts of one key lie in one slot. A request whose policies count different keys takes slot by slot
 * there, and gives back what it took where a later one denies or fails: that never over-admits, and may turn others away
 * while it lasts.
 *
 * `client` is a `Redis` or `Cluster` of ioredis 5 or 6, or a `ScriptRunner`. It stays the user's: `close` takes away the
 * listeners that were put on it. Answers or rejects with a `RedisFailure`.
 */
export function redisBackend(
  client: RedisClient | ScriptRunner,
  options: RedisBackendOptions = {},
): Backend<Promise<Answer>> {
  const { clock, serverTime, maxBatch = DEFAULT_MAX_BATCH, ...keys } = optionsOf('redisBackend', options, OPTIONS)
  if (!(Number.isInteger(maxBatch) && maxBatch >= 1 && maxBatch <= MOST_MAX_BATCH)) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `redisBackend: maxBatch: expected a whole number from 1 to ${MOST_MAX_BATCH}, received ${shown(maxBatch, 'maxBatch')}`,
    )
  }
  optionalFunction('redisBackend: serverTime', serverTime)
  const runner = runnerOf(client)
  const itsClock = clockOf(clock)
  const servers = new KnownServers({ runner, clock: itsClock, serverTime })
  return new ExactBackend({ runner, servers, keys: new EntityKeys('redisBackend', keys), maxBatch, clock: itsClock })
}
