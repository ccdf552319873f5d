import {
  type Backend,
  type Clock,
  clockOf,
  LEASE_OPTIONS,
  type LeaseLedger,
  type LeaseOptions,
  LeasingBackend,
  leaseTermsOf,
  optionalFunction,
  optionsOf,
  type ScriptRunner,
} from '@sluice/limiter-core'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from './entity-key.ts'
import { LeaseRedisLedger } from './lease-redis-ledger.ts'
import { redisBackend } from './redis-backend.ts'
import type { RedisClient } from './redis-client.ts'
import { runnerOf } from './script-runner.ts'

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
  const ledger = redisLedger(client, options)
  const { clock, serverTime, prefix, secret, hashKeys } = options
  const exact = redisBackend(client, { prefix, secret, hashKeys, clock, serverTime })
  return new LeasingBackend({ name: 'leased', exact, ledger, terms: leaseTermsOf('leasedBackend', options), clock })
}

/** The ledger of `leasedBackend` alone: who holds how much of each key. */
export function redisLedger(client: RedisClient | ScriptRunner, options: LeasedBackendOptions = {}): LeaseLedger {
  const names = [...ENTITY_KEY_OPTIONS, ...LEASE_OPTIONS, 'clock', 'serverTime'] as const
  const { clock, serverTime, prefix, secret, hashKeys } = optionsOf('leasedBackend', options, names)
  optionalFunction('leasedBackend: serverTime', serverTime)
  const terms = leaseTermsOf('leasedBackend', options)
  const keys = new EntityKeys('leasedBackend', { prefix, secret, hashKeys })
  return new LeaseRedisLedger({ runner: runnerOf(client), clock: clockOf(clock), keys, terms, serverTime })
}
