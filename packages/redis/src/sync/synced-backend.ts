import { createHmac } from 'node:crypto'
import {
  type Answer,
  type Backend,
  type BackendErrorRule,
  type Clock,
  clockOf,
  compileFailover,
  HashRing,
  type Metric,
  type MetricSource,
  Metrics,
  optionalFunction,
  optionsOf,
  RingBackend,
  type ScriptRunner,
  SluiceError,
} from '@sluice/limiter-core/backend'
import {
  DEFAULT_MAX_KEYS,
  PARTITIONS,
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
import { isRedisClients, type RedisClients } from '../client/redis-clients.ts'
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

/** Made by `syncedBackend`. */
export type SyncedBackend = Backend<Answer> & MetricSource

/**
 * Decides in this process, at once, by what all processes together took of a key; each reports to Redis in the
 * background, once a tick and soon after a key becomes busy. No request waits for Redis, ever.
 *
 * What passes above a limit is what the fleet takes between two exchanges: see docs/global-limiter.md for the bound.
 * Counts are those of `redisBackend` under its names, so that exact and synced processes count together.
 *
 * Several clients by names share the keys by consistent hashing of the names, under `secret` where there is one: all
 * processes need the same names. A server that comes or goes moves its own part of the keys.
 *
 * A cluster needs `partitions`, which `redisBackend` needs as well to count together with it; while one of its masters
 * is silent the keys of the others are answered as ever.
 *
 * Keeps `fixed-window`, `sliding-window`, `token-bucket` and `gcra`, windows of 4 ticks and more. Throws
 * `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`; `SLUICE_BAD_POLICY` where a limiter is built of a policy that it cannot keep.
 */
export function syncedBackend(
  client: RedisClient | ScriptRunner | RedisClients,
  options: SyncedBackendOptions = {},
): SyncedBackend {
  if (!isRedisClients(client)) return oneServer(client, options)
  const names = Object.keys(client)
  if (names.length === 0) {
    throw new SluiceError('SLUICE_BAD_OPTION', 'syncedBackend: expected one or more by names, received no client')
  }
  const maxKeys = Math.ceil((options.maxKeys ?? DEFAULT_MAX_KEYS) / names.length)
  const backends = new Map(names.map((name) => [name, oneServer(client[name], { ...options, maxKeys })]))
  // the secret is checked by now
  const ring = new HashRing(names, options.secret === undefined ? {} : { seed: seedOf(options.secret) })
  const sources = [...backends].map(([redis, backend]) => new Metrics([backend], { labels: { redis } }))
  const metrics = (): Iterable<Metric> => new Metrics(sources).metrics()
  return Object.assign(new RingBackend(ring, backends), { metrics })
}

function oneServer(client: RedisClient | ScriptRunner, options: SyncedBackendOptions): SyncedBackend {
  const { parts, terms, rule } = settingsOf(client, options)
  const { clock, exact } = parts
  const ledger = new RedisSyncLedger(parts)
  return new SyncingBackend({ name: 'synced', identity: exact.identity, ledger, terms, rule, clock })
}

function seedOf(secret: string | Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update('sluice hash ring').digest()
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
  const { clock: given, serverTime, partitions, onBackendError } = optionsOf(owner, options, names)
  optionalFunction(`${owner}: serverTime`, serverTime)
  const terms = syncTermsOf(owner, options)
  const { source, share } = compileFailover({ onBackendError })
  const rule = { source, share: onBackendError === undefined ? undefined : share }
  const keys = new EntityKeys(owner, options)
  const runner = runnerOf(client)
  if (runner.clustered && partitions === undefined) {
    const expected = `how many, such as ${PARTITIONS}, equal in all processes and backends that count together`
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `${owner}: partitions: expected ${expected}, received none for a cluster`,
    )
  }
  const clock = clockOf(given)
  const servers = new KnownServers({ runner, clock, serverTime })
  const exact = new ExactBackend({ runner, clock, keys, servers, maxBatch: DEFAULT_MAX_BATCH })
  return { parts: { runner, clock, keys, servers, serverTime, exact, tickMs: terms.tickMs }, terms, rule }
}
