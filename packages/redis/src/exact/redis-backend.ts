import {
  type Answer,
  type Backend,
  badOption,
  type Clock,
  clockOf,
  optionalFunction,
  optionsOf,
  type ScriptRunner,
} from '@sluice/limiter-core/backend'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from '../client/entity-key.ts'
import type { RedisClient } from '../runners/redis-client.ts'
import { scriptRunner } from '../runners/script-runner.ts'
import { ServerState } from '../server-time/known-servers.ts'
import { ExactBackend } from './exact-backend.ts'

export interface RedisBackendOptions extends EntityKeyOptions {
  /** Process clock, used only for deadlines; counts use the server's clock. Default: the system clock. */
  readonly clock?: Clock | undefined
  /**
   * Clock in ms that replaces the server's clock in tests. Redis keys then expire ten minutes later (in server
   * time) than their counts, and the server does not check deadlines. With `nativeCommands`, the server must use this
   * clock, too. Default: the server's clock.
   */
  readonly serverTime?: (() => number) | undefined
  /**
   * Maximum number of keys per script call, from 1 to 1,000. Redis serves no other client during a call; 32 keys take
   * 0.1 ms, or 0.3 ms with windows of 60 slices. A request with more keys is still sent in one call. Default: 32.
   */
  readonly maxBatch?: number | undefined
  /**
   * Whether takes of one fixed window are sent as the command `INCREX`, which Redis has since 8.8 and Valkey since 9.2,
   * instead of a script. It needs less CPU time of the server per take, and more of the process. The server does
   * not check the deadline of the command, so a take that arrives late is counted. Scripts are used where the server
   * does not have the command, and for everything else. Default: false.
   */
  readonly nativeCommands?: boolean | undefined
}

const OPTIONS = [...ENTITY_KEY_OPTIONS, 'clock', 'serverTime', 'maxBatch', 'nativeCommands'] as const
/** Default maximum number of keys per script call. */
export const DEFAULT_MAX_BATCH = 32
const MAX_MAX_BATCH = 1_000

/**
 * Creates a backend that counts exactly in Redis: all processes together admit as much as one process would. Each
 * request needs one script call for all its policies, and requests in the same turn of the event loop share a call.
 * Counts use the server's clock.
 *
 * In a cluster, all counts of one key are in one slot. If the policies of a request have different keys, the request
 * takes from one slot after another, and refunds its units if a later slot denies or fails. This never admits too much,
 * but other requests may be denied until the refund.
 *
 * `client` is a client of ioredis, iovalkey, node-redis, valkey-glide or @upstash/redis, or a `ScriptRunner`. `close` removes the listeners that the
 * backend added to the client and leaves the client open. Calls reject with a `RedisFailure`.
 *
 * Throws `SLUICE_BAD_OPTION` if the client or an option is invalid, and `SLUICE_SECRET_MISSING` if `hashKeys` is `all`
 * without a `secret`.
 */
export function redisBackend(
  client: RedisClient | ScriptRunner,
  options: RedisBackendOptions = {},
): Backend<Promise<Answer>> {
  const all = optionsOf('redisBackend', options, OPTIONS)
  const { clock, serverTime, maxBatch = DEFAULT_MAX_BATCH, nativeCommands = false, ...entities } = all
  if (!(Number.isInteger(maxBatch) && maxBatch >= 1 && maxBatch <= MAX_MAX_BATCH)) {
    throw badOption('redisBackend: maxBatch', maxBatch, `an integer from 1 to ${MAX_MAX_BATCH}`)
  }
  optionalFunction('redisBackend: serverTime', serverTime)
  if (typeof nativeCommands !== 'boolean') {
    throw badOption('redisBackend: nativeCommands', nativeCommands, 'true or false')
  }
  const runner = scriptRunner(client)
  const itsClock = clockOf(clock)
  const servers = new ServerState({ runner, clock: itsClock, serverTime })
  const keys = new EntityKeys('redisBackend', entities)
  return new ExactBackend({ runner, servers, keys, maxBatch, clock: itsClock, nativeCommands })
}
