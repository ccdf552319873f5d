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
  /** Process clock, used for deadlines only: counts use the time of the server. */
  readonly clock?: Clock | undefined
  /**
   * For tests: a clock in ms instead of the server's. Keys then live ten minutes longer, by the server's time, and
   * the server does not enforce deadlines.
   */
  readonly serverTime?: (() => number) | undefined
  /**
   * Most keys of one script call, 1 to 1,000. Default: 32, which take Redis 0.1 ms (0.3 ms with windows of 60
   * slices). Redis serves no other client during a call. A request with more keys is still one call.
   */
  readonly maxBatch?: number | undefined
}

const OPTIONS = [...ENTITY_KEY_OPTIONS, 'clock', 'serverTime', 'maxBatch'] as const
/** The most keys of one script call, by default. */
export const DEFAULT_MAX_BATCH = 32
const MOST_MAX_BATCH = 1_000

/**
 * Counts in Redis, exactly: all processes together admit as much as one process would. A request is one script call
 * for any number of policies, and requests in one turn of the event loop share a call. Time is the server's.
 *
 * In a cluster all counts of one key are in one slot. A request whose policies count different keys takes slot by
 * slot, and refunds what it took if a later slot denies or fails: that never over-admits, and may deny other requests
 * meanwhile.
 *
 * `client` is a `Redis` or `Cluster` of ioredis 5 or 6, or a `ScriptRunner`. It belongs to the caller: `close` only
 * removes the listeners that were added to it. Resolves, or rejects with a `RedisFailure`.
 */
export function redisBackend(
  client: RedisClient | ScriptRunner,
  options: RedisBackendOptions = {},
): Backend<Promise<Answer>> {
  const { clock, serverTime, maxBatch = DEFAULT_MAX_BATCH, ...keys } = optionsOf('redisBackend', options, OPTIONS)
  if (!(Number.isInteger(maxBatch) && maxBatch >= 1 && maxBatch <= MOST_MAX_BATCH)) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `redisBackend: maxBatch: expected an integer from 1 to ${MOST_MAX_BATCH}, received ${shown(maxBatch, 'maxBatch')}`,
    )
  }
  optionalFunction('redisBackend: serverTime', serverTime)
  const runner = runnerOf(client)
  const itsClock = clockOf(clock)
  const servers = new KnownServers({ runner, clock: itsClock, serverTime })
  return new ExactBackend({ runner, servers, keys: new EntityKeys('redisBackend', keys), maxBatch, clock: itsClock })
}
