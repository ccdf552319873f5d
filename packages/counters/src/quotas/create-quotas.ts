import {
  badOption,
  type Clock,
  clockOf,
  type Duration,
  type MaybePromise,
  type Observer,
  Observers,
  optionalFunction,
  optionsOf,
  parseTimerMs,
} from '@sluice/limiter-core/backend'
import { LEASE_OPTIONS, type LeaseOptions, leaseTermsOf } from '@sluice/limiter-core/leases'
import type { CounterLedger } from '../ledger/counter-ledger.ts'
import type { QuotaUsed } from './quota-notices.ts'
import { Quotas } from './quotas.ts'

export interface QuotasOptions extends LeaseOptions {
  /** How long a statement may take. Default: 5 s. Requests wait for none of them longer than their `deadlineMs`. */
  readonly waitMs?: Duration | undefined
  /**
   * Called when a key has used 80 or 100 per cent of what its period includes: at least once for each, by any one process,
   * and again each minute while it rejects.
   */
  readonly onUsed?: ((notice: QuotaUsed) => MaybePromise<void>) | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Partial<Clock> | undefined
  /** For tests: epoch ms in the place of the database's clock. */
  readonly serverTime?: (() => number) | undefined
}

const OPTIONS = [...LEASE_OPTIONS, 'waitMs', 'onUsed', 'observers', 'clock', 'serverTime'] as const
/** Quotas last for days: a lease of a few seconds keeps the database quiet. */
const LEASE_MS = 10_000

/**
 * Keeps quotas in a ledger of counters: `postgresLedger` or `embeddedLedger`, whose `migrate()` makes the tables. Each
 * process leases a part of what a key has left and spends it without asking; `fraction` (0.1) and `leaseMs` (10 s) are those
 * of `leasedBackend`. Quotas of fewer than 80 units are asked of the database each time.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function createQuotas(ledger: CounterLedger, options: QuotasOptions = {}): Quotas {
  const given = optionsOf('createQuotas', options, OPTIONS)
  const { waitMs = 5_000, onUsed, observers, clock, serverTime, leaseMs = LEASE_MS, fraction } = given
  if (typeof ledger?.openQuotas !== 'function') {
    throw badOption('createQuotas: ledger', ledger, 'a ledger of counters, as postgresLedger makes it')
  }
  optionalFunction('createQuotas: onUsed', onUsed)
  optionalFunction('createQuotas: serverTime', serverTime)
  return new Quotas({
    table: ledger.openQuotas(serverTime),
    clock: clockOf(clock),
    waitMs: parseTimerMs(waitMs, 'createQuotas: waitMs'),
    terms: leaseTermsOf('createQuotas', { leaseMs, fraction }),
    observers: new Observers(observers),
    onUsed,
  })
}
