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
  /** Process clock, by which leases end for their owner. */
  readonly clock?: Clock | undefined
  /** For tests: a clock in ms instead of the server's, as in `redisBackend`. */
  readonly serverTime?: (() => number) | undefined
}

/**
 * Counts in Redis with leases: each process leases a part of a key's units and spends it without I/O, so that a
 * decision costs as much as in memory. All processes together never admit more than a policy guarantees, even after
 * crashes: a leased unit counts as used, and the lease of a crashed process is charged completely when it ends.
 *
 * Units that a process holds and does not spend are unavailable to others until they return, within one lease: near
 * its limit a key may be denied early, by up to `fraction` of the remaining units for each other process. `remaining`
 * is what this process holds plus what was free when it last asked; `retryAfterMs` is an estimate while units are
 * leased. A refund to a window that starts with the first take is lost if that take was not charged yet when the
 * window started.
 *
 * A policy is leased if `fraction` of its capacity is at least 8 units and its window is at least 800 ms. Other
 * policies, the exact log, and keys above 256 characters are counted as by `redisBackend`, in the same counts. All
 * processes need the same `fraction` and `leaseMs`: an exact take does not see leased units.
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

/** Creates only the ledger of `leasedBackend`: which process holds how much of each key. */
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
