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
   * What happens once Redis has been silent for `silentMs`. Default: `'local'`, from the last known counts, with this
   * process's share of 1 / `nodes`. Admitted units are reported afterwards.
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
 * Decides in this process, at once, by what all processes together took of a key. Each process reports to Redis in
 * the background, once per tick and soon after a key becomes busy. No request ever waits for Redis.
 *
 * The excess above a limit is what all processes admit between two exchanges; docs/global-limiter.md states the
 * bound. Counts are those of `redisBackend` under its names, so that exact and synced processes count together.
 *
 * Several clients by name share the keys by consistent hashing of the names, with `secret` if it is set: all
 * processes need the same names. Adding or removing a server moves only its own part of the keys.
 *
 * A cluster requires `partitions`, which `redisBackend` needs as well to count together with it; if one master is
 * silent, the keys of the others are not affected.
 *
 * Supports `fixed-window`, `sliding-window`, `token-bucket` and `gcra`, and windows of at least 4 ticks. Throws
 * `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`, and `SLUICE_BAD_POLICY` when a limiter is created with an
 * unsupported policy.
 */
export function syncedBackend(
  client: RedisClient | ScriptRunner | RedisClients,
  options: SyncedBackendOptions = {},
): SyncedBackend {
  if (!isRedisClients(client)) return oneServer(client, options)
  const names = Object.keys(client)
  if (names.length === 0) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      'syncedBackend: client: expected at least one named client, received none',
    )
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

/** Creates only the ledger of `syncedBackend`: what all processes took of each key. */
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
    const expected = `a number of partitions such as ${PARTITIONS}, equal in all processes and backends that share counts`
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
