import { isWorker } from '@sluice/fleet/backend'
import {
  badOption,
  type Cap,
  type Clock,
  checkedUnits,
  clockOf,
  compileFailover,
  countName,
  type Duration,
  type InflightBackend,
  type Observer,
  Observers,
  optionalFunction,
  optionsOf,
  parseMs,
  parseScope,
  parseTimerMs,
  type ScriptRunner,
  SluiceError,
  shown,
} from '@sluice/limiter-core/backend'
import { countIdentity } from '../client/count-identity.ts'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from '../client/entity-key.ts'
import type { RedisClient } from '../runners/redis-client.ts'
import { scriptRunner } from '../runners/script-runner.ts'
import { ExpiringPermits } from './expiring-permits.ts'
import { InflightTable, type InflightTableOptions } from './inflight-table.ts'

export interface RedisInflightOptions extends EntityKeyOptions {
  /**
   * Places per key. If it is set, all caps on this backend must have the same limit. Default: the limit of each cap.
   */
  readonly limit?: number | undefined
  /**
   * Duration of a lease, after which the places of a crashed process become free; at least three times `deadlineMs`.
   * Processes renew their leases three times per lease. Default: 10 seconds.
   */
  readonly leaseMs?: Duration | undefined
  /** Separates caps with equal names. Must be the same in all processes that share caps. Default: `default`. */
  readonly scope?: string | undefined
  /** Maximum wait for Redis before this process decides by its own count, from 1 to 60,000 ms. Default: 50 ms. */
  readonly deadlineMs?: Duration | undefined
  /**
   * Time after which a permit is revoked, from 1 ms to 2^31 - 1 ms. The `maxHoldMs` of a cap takes precedence. Required
   * on Cloudflare Workers. Default: never.
   */
  readonly maxHoldMs?: Duration | undefined
  /** Receive `backendFailed` and `breaker` events when Redis fails and recovers. Default: none. */
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
  /** Clock in epoch ms that replaces the server's clock in tests. */
  readonly serverTime?: (() => number) | undefined
}

const OPTIONS = [
  ...ENTITY_KEY_OPTIONS,
  'limit',
  'leaseMs',
  'scope',
  'deadlineMs',
  'maxHoldMs',
  'observers',
  'clock',
  'serverTime',
] as const
const LEASE_MS = 10_000
/** Minimum ratio of `leaseMs` to `deadlineMs`: after a heartbeat that times out, there must be time for another one. */
const MIN_DEADLINES = 3

/**
 * Creates a backend that shares in-flight caps between processes through Redis. One backend serves any number of caps,
 * which are distinguished by name and have their own limits. While Redis is available, all processes together never
 * hold more places than the limit.
 *
 * Each permit is a lease, which its process renews while the permit is held. After a crash, the places become free
 * within `leaseMs`. If a process was suspended for longer than its leases, its permits are `lost`; permits that it
 * acquires afterwards are valid.
 *
 * If Redis does not reply within `deadlineMs`, each process counts alone, so N processes may hold N times the limit.
 * Permits are not revoked: when Redis is available again, all held places are counted, even above the limit, and no
 * place is granted until enough have been released. A process that could not renew for a whole lease loses as many
 * permits, the newest first, as other processes have taken its places.
 *
 * With an adaptive limit (`adaptive` of `@sluice/overload`), the processes learn one limit from the work of all, and each
 * decides by its own share, without a call. The sum of all shares stays within the limit. A process that cannot reach
 * Redis uses half of an equal share after three quarters of `leaseMs`.
 *
 * On Cloudflare Workers no process can renew leases. Each permit is a lease of `maxHoldMs` there, and after a crash its
 * places become free when that has passed. Places that an isolate granted alone are not counted by others later.
 *
 * Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_LIMIT`, `SLUICE_BAD_DURATION` or `SLUICE_SECRET_MISSING` if an option is
 * invalid. `acquire` and `count` never reject because of Redis and never wait longer than `deadlineMs`, or twice as
 * long if the process itself was suspended.
 */
export function redisInflight(client: RedisClient | ScriptRunner, options: RedisInflightOptions = {}): InflightBackend {
  optionsOf('redisInflight', options, OPTIONS)
  const { limit, serverTime } = options
  const maxHoldMs =
    options.maxHoldMs === undefined ? undefined : parseTimerMs(options.maxHoldMs, 'redisInflight: maxHoldMs')
  if (limit !== undefined) checkedUnits(limit, 'redisInflight: limit')
  optionalFunction('redisInflight: serverTime', serverTime)
  const keys = new EntityKeys('redisInflight', options)
  const scope = parseScope(options.scope ?? 'default')
  const [countOf, shareOf] = [countNames(scope, 'inflight@1'), countNames(scope, 'shares@1')]
  const runner = scriptRunner(client)
  const table: InflightTableOptions = {
    ...timesOf(options),
    runner,
    identity: countIdentity(runner, JSON.stringify([keys.identity, scope])),
    clock: clockOf(options.clock),
    observers: new Observers(options.observers),
    cap: limit === undefined ? undefined : { name: 'inflight', limit },
    maxHoldMs,
    serverTime,
    nameOf: (key, cap) => keys.name(key, countOf(cap)),
    shareNameOf: (key, cap) => keys.name(key, shareOf(cap)),
  }
  if (!isWorker()) return new InflightTable(table)
  if (maxHoldMs !== undefined) return new ExpiringPermits({ ...table, maxHoldMs })
  throw badOption(
    'redisInflight: maxHoldMs',
    maxHoldMs,
    'a duration on Cloudflare Workers, where nothing renews a lease',
  )
}

function timesOf(options: RedisInflightOptions): { readonly deadlineMs: number; readonly leaseMs: number } {
  const { deadlineMs } = compileFailover({ deadlineMs: options.deadlineMs })
  const leaseMs = Math.ceil(parseMs(options.leaseMs ?? LEASE_MS, 'redisInflight: leaseMs'))
  if (leaseMs >= MIN_DEADLINES * deadlineMs) return { deadlineMs, leaseMs }
  const expected = `at least ${MIN_DEADLINES} times deadlineMs (${MIN_DEADLINES * deadlineMs} ms)`
  const received = options.leaseMs === undefined ? `the default of ${LEASE_MS} ms` : shown(options.leaseMs, 'leaseMs')
  throw new SluiceError('SLUICE_BAD_DURATION', `redisInflight: leaseMs: expected ${expected}, received ${received}`)
}

/** Returns a function that names caps `scope/cap/form`. The `place` of a cap becomes part of the scope. */
function countNames(scope: string, form: string): (cap: Cap) => string {
  const known = new WeakMap<Cap, string>()
  return (cap) => {
    const name = known.get(cap) ?? countName(cap.place ? `${scope}:${cap.place}` : scope, cap, form)
    known.set(cap, name)
    return name
  }
}
