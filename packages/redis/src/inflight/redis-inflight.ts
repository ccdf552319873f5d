import {
  type Cap,
  type Clock,
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
  wholeUnits,
} from '@sluice/limiter-core/backend'
import { countIdentity } from '../client/count-identity.ts'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from '../client/entity-key.ts'
import type { RedisClient } from '../client/redis-client.ts'
import { runnerOf } from '../client/script-runner.ts'
import { InflightTable } from './inflight-table.ts'

export interface RedisInflightOptions extends EntityKeyOptions {
  /** Places for each key. Default: the limit of each cap. If it is set, caps must have the same limit. */
  readonly limit?: number | undefined
  /**
   * Time after which the places of a crashed process become free, at least three times `deadlineMs`. Default: 10
   * seconds. A process renews its leases three times in this time.
   */
  readonly leaseMs?: Duration | undefined
  /** Separates caps with equal names. Default: `default`. Processes that share caps need the same scope. */
  readonly scope?: string | undefined
  /** Longest wait for a reply before this process decides by its own count, 1 to 60,000 ms. Default: 50. */
  readonly deadlineMs?: Duration | undefined
  /** Revokes permits that are held longer, unless their cap has its own maximum: 1 ms to 2^31 - 1 ms. Default: none. */
  readonly maxHoldMs?: Duration | undefined
  /** Receive `backendFailed` and `breaker` when Redis fails and recovers. */
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Clock | undefined
  /** For tests: epoch ms instead of the server's time. */
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
// a heartbeat that waits out its deadline must not be the last one of its lease
const LEAST_DEADLINES = 3

/**
 * Counts the permits of all processes on Redis: the `backend` of any number of caps, which are distinguished by name
 * and have their own limits. An acquire is exact: all processes together never hold more places than the limit.
 *
 * A permit is a lease, which its process renews while it is held; after a crash its places become free within
 * `leaseMs`. A process that was suspended for so long finds its permits `lost`; places that it acquires afterwards
 * are valid.
 *
 * While Redis does not answer within `deadlineMs`, each process counts alone, so that N processes may hold N times
 * the limit. Held permits are not revoked: as soon as Redis answers, all of them are counted again, even above the
 * limit, and nothing is granted until enough have been released. Only a process that could not renew for a whole
 * lease loses the places, the newest first, that others have taken meanwhile.
 *
 * Throws coded errors for invalid options. It never rejects, and a request never waits longer than `deadlineMs`.
 */
export function redisInflight(client: RedisClient | ScriptRunner, options: RedisInflightOptions = {}): InflightBackend {
  optionsOf('redisInflight', options, OPTIONS)
  const { limit, serverTime } = options
  const maxHoldMs =
    options.maxHoldMs === undefined ? undefined : parseTimerMs(options.maxHoldMs, 'redisInflight: maxHoldMs')
  if (limit !== undefined) wholeUnits(limit, 'redisInflight: limit')
  optionalFunction('redisInflight: serverTime', serverTime)
  const keys = new EntityKeys('redisInflight', options)
  const scope = parseScope(options.scope ?? 'default')
  const countOf = countNames(scope)
  const runner = runnerOf(client)
  return new InflightTable({
    ...timesOf(options),
    runner,
    identity: countIdentity(runner, JSON.stringify([keys.identity, scope])),
    clock: clockOf(options.clock),
    observers: new Observers(options.observers),
    cap: limit === undefined ? undefined : { name: 'inflight', limit },
    maxHoldMs,
    serverTime,
    nameOf: (key, cap) => keys.name(key, countOf(cap)),
  })
}

function timesOf(options: RedisInflightOptions): { readonly deadlineMs: number; readonly leaseMs: number } {
  const { deadlineMs } = compileFailover({ deadlineMs: options.deadlineMs })
  const leaseMs = Math.ceil(parseMs(options.leaseMs ?? LEASE_MS, 'redisInflight: leaseMs'))
  if (leaseMs >= LEAST_DEADLINES * deadlineMs) return { deadlineMs, leaseMs }
  throw new SluiceError(
    'SLUICE_BAD_DURATION',
    `redisInflight: leaseMs: expected at least three times deadlineMs (${LEAST_DEADLINES * deadlineMs} ms), received ${shown(options.leaseMs, 'leaseMs')}`,
  )
}

/** Returns `scope/cap/inflight@version`; an application part with its own caps is part of the scope. */
function countNames(scope: string): (cap: Cap) => string {
  const known = new WeakMap<Cap, string>()
  return (cap) => {
    const name = known.get(cap) ?? countName(cap.place ? `${scope}:${cap.place}` : scope, cap, 'inflight@1')
    known.set(cap, name)
    return name
  }
}
