import {
  type Answer,
  type Backend,
  type BackendErrorRule,
  type Clock,
  clockOf,
  compileFailover,
  type MetricSource,
  optionalFunction,
  optionsOf,
  type ScriptRunner,
  SluiceError,
} from '@sluice/limiter-core/backend'
import {
  type SilenceRule,
  SYNC_OPTIONS,
  SyncingBackend,
  type SyncLedger,
  type SyncOptions,
  type SyncTerms,
  syncTermsOf,
} from '@sluice/limiter-core/sync'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from '../client/entity-key.ts'
import { KnownServers } from '../client/known-servers.ts'
import type { RedisClient } from '../client/redis-client.ts'
import { runnerOf } from '../client/script-runner.ts'
import { ExactBackend } from '../exact/exact-backend.ts'
import { DEFAULT_MAX_BATCH } from '../exact/redis-backend.ts'
import { RedisSyncLedger, type RedisSyncOptions } from './redis-sync-ledger.ts'

export interface SyncedBackendOptions extends EntityKeyOptions, SyncOptions {
  /**
   * Who answers once Redis has been silent for `silentMs`: default: `'local'`, from what was last known of each key, of
   * which this process gives its share, 1 / `nodes`. What passes meanwhile is reported afterwards.
   */
  readonly onBackendError?: BackendErrorRule | undefined
  /** The process clock. */
  readonly clock?: Clock | undefined
  /** For tests: a clock in ms instead of the server's, as in `redisBackend`. */
  readonly serverTime?: (() => number) | undefined
}

/**
 * Decides in this process, at once, by what all processes together took of a key; each reports to Redis in the
 * background, once a tick and soon after a key becomes busy. No request waits for Redis, ever.
 *
 * What passes above a limit is what the fleet takes between two exchanges: see docs/global-limiter.md for the bound.
 * Counts are those of `redisBackend` under its names, so that exact and synced processes count together.
 *
 * Keeps `fixed-window`, `sliding-window`, `token-bucket` and `gcra`, windows of 4 ticks and more. Throws
 * `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`; `SLUICE_BAD_POLICY` where a limiter is built of a policy that it cannot keep.
 */
export function syncedBackend(
  client: RedisClient | ScriptRunner,
  options: SyncedBackendOptions = {},
): Backend<Answer> & MetricSource {
  const { parts, terms, rule } = settingsOf(client, options)
  const { clock, exact } = parts
  const ledger = new RedisSyncLedger(parts)
  return new SyncingBackend({ name: 'synced', identity: exact.identity, ledger, terms, rule, clock })
}

/** The ledger of `syncedBackend` alone: what all processes took of each key. */
export function redisSyncLedger(client: RedisClient | ScriptRunner, options: SyncedBackendOptions = {}): SyncLedger {
  return new RedisSyncLedger(settingsOf(client, options).parts)
}

interface Settings {
  readonly parts: RedisSyncOptions
  readonly terms: SyncTerms
  readonly rule: SilenceRule
}

function settingsOf(client: RedisClient | ScriptRunner, options: SyncedBackendOptions): Settings {
  const owner = 'syncedBackend'
  const names = [...ENTITY_KEY_OPTIONS, ...SYNC_OPTIONS, 'onBackendError', 'clock', 'serverTime'] as const
  const { clock: given, serverTime, prefix, secret, hashKeys, onBackendError } = optionsOf(owner, options, names)
  optionalFunction(`${owner}: serverTime`, serverTime)
  const terms = syncTermsOf(owner, options)
  const { source, share } = compileFailover({ onBackendError })
  const rule = { source, share: onBackendError === undefined ? undefined : share }
  const keys = new EntityKeys(owner, { prefix, secret, hashKeys })
  const runner = runnerOf(client)
  if (runner.clustered) {
    throw new SluiceError('SLUICE_BAD_OPTION', `${owner}: got a client of a cluster, expected one of a single server`)
  }
  const clock = clockOf(given)
  const servers = new KnownServers({ runner, clock, serverTime })
  const exact = new ExactBackend({ runner, clock, keys, servers, maxBatch: DEFAULT_MAX_BATCH })
  return { parts: { runner, clock, keys, servers, serverTime, exact, tickMs: terms.tickMs }, terms, rule }
}
