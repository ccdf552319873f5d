import { included, type QuotaAccount } from './quota-account.ts'

/**
 * What a key has and what became of it, at one moment. Exactly: `included + carried + toppedUp + topUpLeft = used + stranded
 * + onLease + reserved + left`; `left` is below 0 by what was charged beyond all of it.
 */
export interface QuotaBalance {
  /** Local date on which the period began. */
  readonly period: string
  /** Epoch ms. */
  readonly startsAt: number
  /** Epoch ms. */
  readonly endsAt: number
  /** Units of the plan. */
  readonly included: number
  /** Units that were left of the period before. */
  readonly carried: number
  /** Units of top-ups that were spent in this period. */
  readonly toppedUp: number
  /** Units of top-ups that may still be spent. */
  readonly topUpLeft: number
  readonly used: number
  /** Units that were charged for leases whose owners never reported. */
  readonly stranded: number
  /** Units that processes hold and have not reported yet: spent already, or not. */
  readonly onLease: number
  readonly reserved: number
  readonly left: number
  /** Units that may be taken, reserved or leased now. What was charged beyond all is on the bill: a top-up does not pay it. */
  readonly available: number
}

/** Of an open account. */
export function balanceOf(account: QuotaAccount): QuotaBalance {
  const { current, topUps, now } = account
  const { label, startsAt, endsAt, limit, carried, toppedUp, used, stranded } = current
  const reserved = account.reservations.reduce((sum, { period, units }) => sum + (period === label ? units : 0), 0)
  const pending = account.pendingIn(current)
  const topUpLeft = topUps.left(now)
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
    left: included(current) + toppedUp + topUpLeft - used - stranded - pending,
    available: account.free,
  }
}
