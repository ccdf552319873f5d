import { createHmac } from 'node:crypto'
import { HashRing, PARTITIONS, RingBackend } from '@sluice/fleet/backend'
import { Metrics } from '@sluice/fleet/metrics'
import {
  DEFAULT_MAX_KEYS,
  type SilenceRule,
  SYNC_OPTIONS,
  SyncingBackend,
  type SyncLedger,
  type SyncOptions,
  type SyncTerms,
  syncTermsOf,
} from '@sluice/fleet/sync'
import {
  type Answer,
  type Backend,
  type BackendErrorRule,
  type Clock,
  clockOf,
  compileFailover,
  type Metric,
  type MetricSource,
  optionalFunction,
  optionsOf,
  type ScriptRunner,
  SluiceError,
} from '@sluice/limiter-core/backend'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from '../client/entity-key.ts'
import { ExactBackend } from '../exact/exact-backend.ts'
import { DEFAULT_MAX_BATCH } from '../exact/redis-backend.ts'
import type { RedisClient } from '../runners/redis-client.ts'
import { isRedisClients, type RedisClients } from '../runners/redis-clients.ts'
import { refusedInWorkers } from '../runners/refused-in-workers.ts'
import { scriptRunner } from '../runners/script-runner.ts'
import { ServerState } from '../server-time/known-servers.ts'
import { RedisSyncLedger, type RedisSyncOptions } from './redis-sync-ledger.ts'

export interface SyncedBackendOptions extends EntityKeyOptions, SyncOptions {
  /**
   * Rule for decisions after Redis has not replied for `silentMs`. With `'local'`, this process continues from the last
   * known counts with a share of 1 / `nodes` of each limit, and reports the admitted units when Redis is available
   * again. Default: `'local'`.
   */
  readonly onBackendError?: BackendErrorRule | undefined
  /** Process clock. Default: the system clock. */
  readonly clock?: Clock | undefined
  /** Clock in ms that replaces the server's clock in tests, as in `redisBackend`. */
  readonly serverTime?: (() => number) | undefined
}

/** Backend returned by `syncedBackend`, with its metrics. */
export type SyncedBackend = Backend<Answer> & MetricSource

/**
 * Creates a backend that decides in this process without waiting for Redis, by the last known usage of all processes.
 * Each process exchanges usage with Redis in the background, once per tick, and earlier for busy keys.
 *
 * Overshoot: requests that all processes admit between two exchanges may exceed a limit; docs/global-limiter.md states
 * the bound. The backend uses the same counts under the same Redis keys as `redisBackend`, so processes with either
 * backend share limits.
 *
 * With several clients by name, keys are distributed over the servers by consistent hashing of the names, seeded with
 * `secret` if it is set. All processes must use the same names. Adding or removing a server only moves its part of the
 * keys.
 *
 * A cluster requires `partitions`. To share limits, `redisBackend` must have the same `partitions`. If one master is
 * unavailable, the keys of the other masters are not affected.
 *
 * Supports the algorithms `fixed-window`, `sliding-window`, `token-bucket` and `gcra`, with windows of at least 4
 * ticks. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` or `SLUICE_SECRET_MISSING` if an option is invalid. Creating
 * a limiter with an unsupported policy throws `SLUICE_BAD_POLICY`.
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
      'syncedBackend: client: expected at least one named client, received an empty object',
    )
  }
  const maxKeys = Math.ceil((options.maxKeys ?? DEFAULT_MAX_KEYS) / names.length)
  const backends = new Map(names.map((name) => [name, oneServer(client[name], { ...options, maxKeys })]))
  // `oneServer` has validated the secret
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

/** Creates only the ledger of `syncedBackend`, which adds up the usage of all processes. */
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
  refusedInWorkers(owner)
  const terms = syncTermsOf(owner, options)
  const { source, share } = compileFailover({ onBackendError })
  const rule = { source, share: onBackendError === undefined ? undefined : share }
  const keys = new EntityKeys(owner, options)
  const runner = scriptRunner(client)
  if (runner.clustered && partitions === undefined) {
    const expected = `a number such as ${PARTITIONS}, the same in all processes and backends that share counts`
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `${owner}: partitions: expected ${expected}, received undefined with a cluster`,
    )
  }
  const clock = clockOf(given)
  const servers = new ServerState({ runner, clock, serverTime })
  const exact = new ExactBackend({ runner, clock, keys, servers, maxBatch: DEFAULT_MAX_BATCH })
  return { parts: { runner, clock, keys, servers, serverTime, exact, tickMs: terms.tickMs }, terms, rule }
}
