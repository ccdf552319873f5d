import type { CounterLedger } from '@sluice/counters/backend'
import { LEASE_OPTIONS, type LeaseOptions, leaseTermsOf } from '@sluice/fleet/leases'
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
import type { QuotaUsed } from './quota-notices.ts'
import { Quotas } from './quotas.ts'

export interface QuotasOptions extends LeaseOptions {
  /** Timeout of a database statement. Default: 5 s. Requests wait for statements no longer than their `deadlineMs`. */
  readonly waitMs?: Duration | undefined
  /**
   * Called when a key has used a share of `notices` of the units included in its period: at least once for each share,
   * in one of the processes, and again every minute while it rejects.
   */
  readonly onUsed?: ((notice: QuotaUsed) => MaybePromise<void>) | undefined
  /**
   * Shares of the included units at which `onUsed` and observers are notified: up to 10 different multiples of 0.01,
   * from 0.01 to 1. Empty: no notices. Default: `[0.8, 1]`.
   */
  readonly notices?: readonly number[] | undefined
  readonly observers?: readonly Observer[] | undefined
  readonly clock?: Partial<Clock> | undefined
  /** Replaces the database's clock in tests; returns epoch ms. */
  readonly serverTime?: (() => number) | undefined
}

const OPTIONS = [...LEASE_OPTIONS, 'waitMs', 'onUsed', 'notices', 'observers', 'clock', 'serverTime'] as const
/** Default `leaseMs`. Quotas last for days, so leases of several seconds are fine and spare the database. */
const LEASE_MS = 10_000
/** Maximum part of a limit that a process leases ahead, and loses if it is killed. */
const HELD_FRACTION = 0.02

/** Maximum number of shares. A charge that reaches several of them writes a row for each. */
const MAX_NOTICES = 10

/**
 * Creates quotas in a ledger from `postgresLedger` or `embeddedLedger`, whose `migrate()` creates the tables. Each
 * process leases part of a key's remaining units and spends them without calling the database; `fraction` (default:
 * 0.1) and `leaseMs` (default: 10 s) work as in `leasedBackend`, but a process never holds more than 2 % of a limit, so
 * that a crash costs no more. Quotas of fewer than 80 units call the database for each request.
 *
 * Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`.
 */
export function createQuotas(ledger: CounterLedger, options: QuotasOptions = {}): Quotas {
  const given = optionsOf('createQuotas', options, OPTIONS)
  const { waitMs = 5_000, onUsed, notices, observers, clock, serverTime, leaseMs = LEASE_MS, fraction } = given
  if (typeof ledger?.openQuotas !== 'function') {
    throw badOption('createQuotas: ledger', ledger, 'a counter ledger such as postgresLedger(pool)')
  }
  optionalFunction('createQuotas: onUsed', onUsed)
  optionalFunction('createQuotas: serverTime', serverTime)
  const terms = leaseTermsOf('createQuotas', { leaseMs, fraction })
  return new Quotas({
    table: ledger.openQuotas(serverTime),
    clock: clockOf(clock),
    waitMs: parseTimerMs(waitMs, 'createQuotas: waitMs'),
    terms: { ...terms, heldFraction: Math.min(terms.fraction, HELD_FRACTION) },
    observers: new Observers(observers),
    thresholds: thresholdsOf(notices),
    onUsed,
  })
}

/** Returns the percentages of shares, in ascending order. Throws `SLUICE_BAD_OPTION`. */
function thresholdsOf(notices: readonly number[] = [0.8, 1]): readonly number[] {
  const expected = `an array of up to ${MAX_NOTICES} different shares such as 0.8, from 0.01 to 1`
  if (!Array.isArray(notices)) throw badOption('createQuotas: notices', notices, expected)
  // holes of a sparse array are invalid shares
  const shares: readonly unknown[] = Array.from(notices)
  const percentages = shares.map((share) => (typeof share === 'number' ? Math.round(share * 100) : Number.NaN))
  for (const [index, share] of shares.entries()) {
    const percentage = percentages[index]
    // 0.29 * 100 is not exactly 29
    const isShare = percentage >= 1 && percentage <= 100 && Math.abs((share as number) * 100 - percentage) < 1e-9
    if (!isShare || percentages.indexOf(percentage) < index || index >= MAX_NOTICES) {
      throw badOption(`createQuotas: notices[${index}]`, share, expected)
    }
  }
  return percentages.sort((one, other) => one - other)
}
