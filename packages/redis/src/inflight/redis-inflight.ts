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
  /** Places for each key. Caps bring their own; where it is said, they must say the same. */
  readonly limit?: number | undefined
  /**
   * A process that is gone gives its places back after so long; default: 10 seconds, at least three times
   * `deadlineMs`. It renews its leases thrice as often.
   */
  readonly leaseMs?: Duration | undefined
  /** Keeps caps of equal names apart: default: `default`. Processes that share caps share it. */
  readonly scope?: string | undefined
  /** How long an answer may take before this process answers by its own count, from 1 to 60,000 ms; default: 50. */
  readonly deadlineMs?: Duration | undefined
  /** Permits held longer are taken back, unless their cap has a bound of its own: 1 ms to 2^31 - 1 ms. Default: none. */
  readonly maxHoldMs?: Duration | undefined
  /** Told when Redis fails, and when it is called no more and again (`backendFailed`, `breaker`). */
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
 * Permits of a fleet, counted on Redis: the `backend` of any number of caps, each of which is told apart by its name and
 * brings its limit. An acquire is exact: all processes together hold no more places than the limit.
 *
 * A permit is a lease. While it is held its process renews it; when that crashes, its places come back after `leaseMs`.
 * A process that stood still for so long finds, when it wakes, that its permits are `lost`; places that it acquires anew
 * are its own.
 *
 * While Redis does not answer within `deadlineMs`, each process counts by itself, so that N processes may hold N times
 * the limit. Nothing that is held is taken away for it: as soon as Redis answers, all that is held is counted again, were
 * it more than the limit, and nobody gets a place until enough came back. Only who could not renew for a whole lease
 * loses those of its places, the newest first, that others have taken meanwhile.
 *
 * Throws coded errors for bad options. It never rejects, and a request never waits longer than `deadlineMs`.
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
    `redisInflight: leaseMs: expected three times deadlineMs or more: ${LEAST_DEADLINES * deadlineMs} ms, received ${shown(options.leaseMs, 'leaseMs')}`,
  )
}

/** `scope/cap/inflight@version`; a part of an application that has caps of its own is part of the scope. */
function countNames(scope: string): (cap: Cap) => string {
  const known = new WeakMap<Cap, string>()
  return (cap) => {
    const name = known.get(cap) ?? countName(cap.place ? `${scope}:${cap.place}` : scope, cap, 'inflight@1')
    known.set(cap, name)
    return name
  }
}
