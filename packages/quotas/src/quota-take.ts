import { type Charge, ChargeVerdict, type Held, withFund } from '@sluice/limiter-core/backend'
import { forgiveLeases, fundOf } from './account/account-leases.ts'
import type { QuotaAccount } from './account/quota-account.ts'
import type { QuotaCounter } from './quota-counter.ts'

export type QuotaCharge = Charge<QuotaCounter>

/** Units that a take has held, and the units of the earlier hold that they replace. */
export interface TakenHold {
  readonly held: Held
  readonly replaced: Held | undefined
}

/** Whether the cost of a take fits an open account, without the units that its earlier hold still holds. */
export function fitsIn(account: QuotaAccount, charge: QuotaCharge): boolean {
  return neededOf(account, charge) <= account.free
}

/** Spends or holds the cost of a take, which fits. Returns what is held; undefined if the cost is spent. */
export function takeFrom(account: QuotaAccount, { cost, hold, counter }: QuotaCharge): TakenHold | undefined {
  const { holds } = counter.compiled
  const { now } = account
  if (!hold || !holds) {
    account.take(cost)
    return undefined
  }
  const { from } = hold
  const replaced = from && { units: account.holds.heldOf(from, now), endsAt: from.endsAt }
  if (from) account.holds.release(from, now)
  const held = { units: cost, endsAt: holds.endsAt(now, hold.forMs) }
  account.holds.hold(held, now)
  return { held, replaced }
}

/** Returns the units of a take to an account, and holds again what they replaced. */
export function undoHold(account: QuotaAccount, { held, replaced }: TakenHold): void {
  const { now, holds } = account
  holds.release(held, now)
  if (replaced && replaced.endsAt > now) holds.hold(replaced, now)
}

/**
 * Adds the cost to a take made at `takenAt`, without a check. Held units that it settles are released. A time in the
 * future means now.
 */
export function adjustAccount(account: QuotaAccount, { cost, hold }: QuotaCharge, takenAt: number): void {
  if (hold?.from) account.holds.release(hold.from, account.now)
  const at = Math.min(takenAt, account.now)
  account.charge(account.periodAt(at), cost, at)
}

/** Gives back all units of the current period, and all held units. */
export function resetAccount(account: QuotaAccount): void {
  const { current } = account
  account.charge(current, -current.used, account.now)
  forgiveLeases(account, current)
  account.strand(current, -current.stranded, account.now)
  account.holds.clear()
}

/** Returns the verdict of a charge. `fits` is whether it was taken, or could be taken. */
export function verdictOf(account: QuotaAccount, charge: QuotaCharge, fits: boolean): ChargeVerdict {
  const { counter, advisory } = charge
  const { current, now, free, holds } = account
  const leftMs = Math.ceil(current.endsAt - now)
  const ends = holds.endsAfter(now)
  const resetMs = Math.max(leftMs, Math.ceil((ends.at(-1) ?? now) - now))
  const growths = ends.filter((at) => account.freeAt(at) > free).map((at) => Math.ceil(at - now))
  if (current.used + current.stranded > 0) growths.push(leftMs)
  const growsMs = growths.length > 0 ? Math.min(...growths) : 0
  const waitMs = fits ? 0 : account.waitMs(neededOf(account, charge))
  const verdict = new ChargeVerdict(counter.compiled.policy, advisory === true, free, waitMs, resetMs, growsMs)
  return withFund(verdict, fundOf(account, fits))
}

/** Returns the units that must be free for a take. */
function neededOf(account: QuotaAccount, { cost, hold }: QuotaCharge): number {
  return hold?.from ? Math.max(0, cost - account.holds.heldOf(hold.from, account.now)) : cost
}
