import { LEASE_OPTIONS, type LeaseLedger, type LeaseOptions, LeasingBackend, leaseTermsOf } from '@sluice/fleet/leases'
import {
  type Backend,
  type Clock,
  clockOf,
  Observers,
  optionalFunction,
  optionsOf,
  type ScriptRunner,
} from '@sluice/limiter-core/backend'
import { ENTITY_KEY_OPTIONS, type EntityKeyOptions, EntityKeys } from '../client/entity-key.ts'
import { ExactBackend } from '../exact/exact-backend.ts'
import { ExactCalls } from '../exact/exact-calls.ts'
import { DEFAULT_MAX_BATCH } from '../exact/redis-backend.ts'
import type { RedisClient } from '../runners/redis-client.ts'
import { refusedInWorkers } from '../runners/refused-in-workers.ts'
import { scriptRunner } from '../runners/script-runner.ts'
import { ServerState } from '../server-time/known-servers.ts'
import { LeaseRedisLedger, type LeaseRedisOptions } from './redis-ledger.ts'
import { unleasedForm } from './unleased-form.ts'

export interface LeasedBackendOptions extends EntityKeyOptions, LeaseOptions {
  /** Process clock, which determines when the leases of this process end. Default: the system clock. */
  readonly clock?: Clock | undefined
  /** Clock in ms that replaces the server's clock in tests, as in `redisBackend`. */
  readonly serverTime?: (() => number) | undefined
}

/**
 * Creates a backend that counts in Redis with leases: each process leases a part of the units of a key and spends them
 * without I/O, so that a decision costs as much as in memory. All processes together never admit more than the policy
 * allows, even after crashes: leased units count as used, and the lease of a crashed process is charged completely when
 * it ends.
 *
 * Leased units that a process does not spend are unavailable to other processes until they are returned, within one
 * lease. Near the limit a key may therefore be denied too early, by up to `fraction` of the remaining units per other
 * process. `remaining` is the number of units that this process holds plus the units that were free at its last
 * request. `retryAfterMs` is an estimate while units are leased. A refund is lost if it belongs to a window that starts
 * with its first take and that take had not been charged yet when the window started.
 *
 * Keys are leased if `fraction` of the capacity of their policy is at least 8 units, its window is at least 800 ms, its
 * algorithm is not `sliding-log`, and the key has at most 256 characters. Other keys are counted like in
 * `redisBackend`, with the same counts. All processes must use the same `fraction` and `leaseMs`, because exact takes
 * do not see leased units.
 *
 * Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` or `SLUICE_SECRET_MISSING` if an option is invalid.
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

/** Creates only the ledger of `leasedBackend`, which stores the leased units of each process. */
export function redisLeaseLedger(client: RedisClient | ScriptRunner, options: LeasedBackendOptions = {}): LeaseLedger {
  return new LeaseRedisLedger(partsOf(client, options))
}

function partsOf(client: RedisClient | ScriptRunner, options: LeasedBackendOptions): LeaseRedisOptions {
  const names = [...ENTITY_KEY_OPTIONS, ...LEASE_OPTIONS, 'clock', 'serverTime'] as const
  const { clock: given, serverTime } = optionsOf('leasedBackend', options, names)
  refusedInWorkers('leasedBackend')
  optionalFunction('leasedBackend: serverTime', serverTime)
  const terms = leaseTermsOf('leasedBackend', options)
  const keys = new EntityKeys('leasedBackend', options)
  const runner = scriptRunner(client)
  const clock = clockOf(given)
  return { runner, clock, keys, terms, servers: new ServerState({ runner, clock, serverTime }) }
}
