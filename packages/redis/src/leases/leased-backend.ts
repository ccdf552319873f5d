import {
  type Backend,
  type Clock,
  clockOf,
  Observers,
  optionalFunction,
  optionsOf,
  type ScriptRunner,
} from '@sluice/limiter-core/backend'
import {
  LEASE_OPTIONS,
  type LeaseLedger,
  type LeaseOptions,
  LeasingBackend,
  leaseTermsOf,
} from '@sluice/limiter-core/leases'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from '../client/entity-key.ts'
import { KnownServers } from '../client/known-servers.ts'
import type { RedisClient } from '../client/redis-client.ts'
import { runnerOf } from '../client/script-runner.ts'
import { ExactBackend } from '../exact/exact-backend.ts'
import { ExactCalls } from '../exact/exact-calls.ts'
import { DEFAULT_MAX_BATCH } from '../exact/redis-backend.ts'
import { LeaseRedisLedger, type LeaseRedisOptions } from './redis-ledger.ts'
import { unleasedForm } from './unleased-form.ts'

export interface LeasedBackendOptions extends EntityKeyOptions, LeaseOptions {
  /** The process clock, by which leases end for those who spend them. */
  readonly clock?: Clock | undefined
  /** For tests: a clock in ms instead of the server's, as in `redisBackend`. */
  readonly serverTime?: (() => number) | undefined
}

/**
 * Counts in Redis, in shares: each process leases a part of a key's quota and spends it without I/O, so that a decision
 * costs what it costs in memory. All processes together never spend more than a policy promises, whatever crashes: a
 * unit on lease counts as used, and a lease whose process is gone is charged whole when it ends.
 *
 * What a process holds and does not spend others cannot have before it comes back, within one lease: near its limit a
 * key may be denied up to `fraction` of what was left, for each other process. `remaining` is what this process holds
 * and what nobody held when it last asked; `retryAfterMs` is a guess while units are on lease. A refund to a window
 * fixed by its first take is lost where that take was not yet charged when the window began.
 *
 * A policy is leased where `fraction` of its capacity is 8 units or more and its window 800 ms or more; others, the
 * exact log, and keys over 256 characters are answered as `redisBackend` does, which keeps the same counts. All
 * processes of a fleet need the same `fraction` and `leaseMs`: an exact take does not see what is on lease.
 */
export function leasedBackend(client: RedisClient | ScriptRunner, options: LeasedBackendOptions = {}): Backend {
  const parts = partsOf(client, options)
  const { runner, clock, keys, servers, terms } = parts
  const maxBatch = DEFAULT_MAX_BATCH
  const exact = new ExactBackend({ runner, clock, keys, servers, maxBatch })
  const observers = new Observers()
  const name = 'leased'
  const unleased = new ExactCalls({ runner, clock, servers, form: unleasedForm, source: name, maxBatch, observers })
  return new LeasingBackend({
    name,
    exact,
    ledger: new LeaseRedisLedger(parts),
    takeUnleased: (charge, deadlineAt) => unleased.takeOne(charge, keys.nameOfCells(charge), deadlineAt),
    terms,
    clock,
  })
}

/** The ledger of `leasedBackend` alone: who holds how much of each key. */
export function redisLedger(client: RedisClient | ScriptRunner, options: LeasedBackendOptions = {}): LeaseLedger {
  return new LeaseRedisLedger(partsOf(client, options))
}

function partsOf(client: RedisClient | ScriptRunner, options: LeasedBackendOptions): LeaseRedisOptions {
  const names = [...ENTITY_KEY_OPTIONS, ...LEASE_OPTIONS, 'clock', 'serverTime'] as const
  const { clock: given, serverTime } = optionsOf('leasedBackend', options, names)
  optionalFunction('leasedBackend: serverTime', serverTime)
  const terms = leaseTermsOf('leasedBackend', options)
  const keys = new EntityKeys('leasedBackend', options)
  const runner = runnerOf(client)
  const clock = clockOf(given)
  return { runner, clock, keys, terms, servers: new KnownServers({ runner, clock, serverTime }) }
}
