import type { QuotaAccount } from './account/quota-account.ts'
import { included } from './account/quota-state.ts'

/**
 * Balance of a key at one moment. Exactly: `included + carried + toppedUp + topUpLeft = used + stranded + onLease +
 * reserved + held + left`, where `left` is negative by the units charged beyond the limit.
 */
export interface QuotaBalance {
  /** Local date on which the period began, e.g. `2026-11-01`; `2026-11-01.2` if the key had this date in another zone. */
  readonly period: string
  /** Start of the period, in epoch ms. */
  readonly startsAt: number
  /** End of the period, in epoch ms. */
  readonly endsAt: number
  /** Units included in the plan. */
  readonly included: number
  /** Units carried over from the previous period. */
  readonly carried: number
  /** Units of top-ups spent in this period. */
  readonly toppedUp: number
  /** Unspent units of top-ups. */
  readonly topUpLeft: number
  readonly used: number
  /** Units charged for leases that ended without a report. */
  readonly stranded: number
  /** Units leased to processes that have not reported them yet, spent or not; of earlier periods only those of top-ups. */
  readonly onLease: number
  /** Units reserved in this period, and units of top-ups that are reserved in earlier periods. */
  readonly reserved: number
  /** Units held by `Limiter.hold`, also those that were held in an earlier period. */
  readonly held: number
  readonly left: number
  /**
   * Units that can be taken, reserved or leased now. Units charged beyond the limit are billed; a top-up does not pay
   * for them.
   */
  readonly available: number
}

/** Returns the balance of an open account. */
export function balanceOf(account: QuotaAccount): QuotaBalance {
  const { current, topUps, now } = account
  const { label, startsAt, endsAt, limit, carried, toppedUp, used, stranded } = current
  const before = account.pendingTopUps()
  const reservedBefore = account.reservations.reduce((sum, one) => sum + (one.period === label ? 0 : one.units), 0)
  const reservedNow = account.reservations.reduce((sum, one) => sum + (one.period === label ? one.units : 0), 0)
  const reserved = reservedNow + Math.min(before, reservedBefore)
  const pending = account.pendingIn(current) + before
  const topUpLeft = topUps.left(now)
  const held = account.holds.unitsAt(now)
  return {
    period: label,
    startsAt,
    endsAt,
    included: limit,
    carried,
    toppedUp,
    topUpLeft,
    used,
    stranded,
    onLease: pending - reserved,
    reserved,
    held,
    left: included(current) + toppedUp + topUpLeft - used - stranded - pending - held,
    available: account.free,
  }
}
