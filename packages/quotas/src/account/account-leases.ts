import {
  grantOf,
  isStale,
  LEASE_GRACE_FACTOR,
  type LeaseGrant,
  type LeaseRequest,
  type LeaseTerms,
  spentSince,
} from '@sluice/fleet/leases'
import type { Fund } from '@sluice/limiter-core/backend'
import type { QuotaAccount } from './quota-account.ts'
import type { LeaseState, PeriodState } from './quota-state.ts'
import { includedLeft } from './quota-state.ts'

/** Time after the end of a lease during which its owner can still report what it spent. */
export const REPORTED_WITHIN_MS = 3_600_000
/** Maximum number of ended leases remembered for one key. */
const MAX_ENDED = 64

/** Returns the id of a lease in journal entries. */
export function leaseRef({ owner, seq }: Pick<LeaseState, 'owner' | 'seq'>): string {
  return `${owner}:${seq}`
}

/** Handles the lease request of a process for an open account. */
export function requestLease(account: QuotaAccount, ask: LeaseRequest, terms: LeaseTerms): LeaseGrant {
  const lease = account.leases.find(({ owner }) => owner === ask.owner)
  const stale = isStale(ask, lease)
  const untilEndMs = Math.max(1, Math.floor(account.current.endsAt - account.now))
  const leaseMs = Math.min(terms.leaseMs, untilEndMs)
  const kept = stale ? ask.keep : report(account, ask, lease, leaseMs)
  const { free } = account
  const granted = stale ? 0 : grantOf(ask, free, terms.fraction)
  if (granted > 0) lend(account, ask, kept + granted, leaseMs)
  const { used, stranded, endsAt } = account.current
  const charged = used + stranded
  const leftMs = Math.ceil(endsAt - account.now)
  return {
    granted,
    free: free - granted,
    charged,
    capacity: account.capacity,
    retryAfterMs: free >= ask.need ? 0 : account.waitMs(ask.need),
    resetAfterMs: leftMs,
    availableAfterMs: charged > 0 ? leftMs : 0,
    // a duration of 0 keeps the owner from spending units that it was not allowed to keep
    leaseMs: kept === ask.keep ? leaseMs : 0,
    fund: fundOf(account, granted > 0),
    now: account.now,
  }
}

/**
 * Charges leases that ended without a report, and removes old ended leases. Leases of an earlier opening end now,
 * because the process that held them is gone; see `QuotaTable`.
 */
export function settleLeases(account: QuotaAccount): void {
  for (const lease of account.leases) {
    const isGone = account.opening !== undefined && lease.opening !== account.opening
    if (isGone) lease.endsAt = Math.min(lease.endsAt, account.now)
    if (lease.endsAt > account.now || lease.units === 0) continue
    const period = account.period(lease.period) ?? account.current
    account.strand(period, lease.units, lease.endsAt)
    account.journal.entries.push(entryOf('stranded', lease, lease.units, period))
    lease.settled += lease.units
    lease.units = 0
  }
  const ended = account.leases.filter(({ endsAt, units }) => units === 0 && endsAt <= account.now)
  const tooMany = new Set(ended.slice(0, -MAX_ENDED))
  account.removeLeases(
    (lease) => tooMany.has(lease) || (ended.includes(lease) && lease.endsAt + REPORTED_WITHIN_MS <= account.now),
  )
}

/** Gives back units charged for a lease without a report. Returns the number of units given back. */
export function creditLease(account: QuotaAccount, ref: string, label: string, units: number): number {
  const period = account.period(label)
  if (!period) return 0
  const lease = account.leases.find(({ owner }) => ref.startsWith(`${owner}:`))
  // the owner has reported since then, so the remaining stranded units belong to other leases
  const settled = lease && leaseRef(lease) !== ref ? 0 : (lease?.settled ?? units)
  const credited = Math.min(units, settled, period.stranded)
  account.strand(period, -credited, account.now)
  if (lease) lease.settled -= credited
  return credited
}

/**
 * Gives back the units charged for leases of a period without a report, so that a late report gives nothing back a
 * second time. The caller gives back all stranded units of the period.
 */
export function forgiveLeases(account: QuotaAccount, period: PeriodState): void {
  for (const lease of account.leases) {
    if (lease.period !== period.label || lease.settled === 0) continue
    account.journal.entries.push(entryOf('credit', lease, -lease.settled, period))
    lease.settled = 0
  }
}

/**
 * Charges the units that the owner spent and that were not charged yet, and leases it the units it keeps. Returns the
 * number of units kept: units of another period or of an unknown lease are kept only if they fit.
 */
function report(account: QuotaAccount, ask: LeaseRequest, lease: LeaseState | undefined, leaseMs: number): number {
  const period = (lease && account.period(lease.period)) ?? account.current
  if (lease && lease.settled > 0) {
    account.strand(period, -lease.settled, lease.endsAt)
    account.journal.entries.push(entryOf('reported', lease, -lease.settled, period))
    lease.settled = 0
  }
  const spent = spentSince(ask, lease)
  account.charge(period, spent, account.now)
  // an empty report is not stored, so that a flood of denied requests causes no writes
  const isEmpty = (lease?.units ?? 0) === 0 && ask.keep === 0 && spent === 0
  const isHeld = lease?.period === account.current.label
  const kept = isHeld || ask.keep <= account.free ? ask.keep : 0
  if (!isEmpty) lend(account, ask, kept, leaseMs)
  return kept
}

function lend(account: QuotaAccount, { owner, seq, base, spent }: LeaseRequest, units: number, leaseMs: number): void {
  const endsAt = account.now + leaseMs * LEASE_GRACE_FACTOR
  const { label } = account.current
  account.removeLeases((lease) => lease.owner === owner)
  account.leases.push({
    owner,
    period: label,
    units,
    endsAt,
    seq,
    base,
    charged: spent,
    settled: 0,
    opening: account.opening,
  })
}

/**
 * Returns the fund from which units were just taken or leased, or, if they did not fit, the fund that was exhausted.
 */
export function fundOf(account: QuotaAccount, fits: boolean): Fund {
  const { current, topUps } = account
  if (!fits) return topUps.any ? 'top-up' : 'included'
  const pending = account.pendingIn(current) + account.holds.unitsAt(account.now)
  const isIncluded = current.toppedUp === 0 && pending <= includedLeft(current)
  return isIncluded ? 'included' : 'top-up'
}

function entryOf(kind: 'stranded' | 'reported' | 'credit', lease: LeaseState, units: number, { label }: PeriodState) {
  return { kind, token: null, ref: leaseRef(lease), units, period: label } as const
}
