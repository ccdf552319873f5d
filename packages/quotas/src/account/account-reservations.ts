import type { QuotaEntry } from '@sluice/counters/backend'
import type { QuotaAccount } from './quota-account.ts'
import type { ReservationState } from './quota-state.ts'

/** How a reservation ended. Each reservation ends once, by the first call or by expiring. */
export type ReservationEnd = 'posted' | 'voided' | 'expired'

/** Reserves units of an open account if they fit. The same id returns the existing reservation. */
export function reserveUnits(
  account: QuotaAccount,
  { id, units, ttlMs }: { readonly id: string; readonly units: number; readonly ttlMs: number },
): ReservationState | undefined {
  const standing = account.reservations.find((one) => one.id === id)
  if (standing || units > account.free) return standing
  const { current, now } = account
  const reservation = { id, period: current.label, units, endsAt: Math.floor(now + ttlMs), madeAt: now }
  account.reserve(reservation)
  account.journal.entries.push(reservedEntry(reservation))
  return reservation
}

export function reservedEntry({ id, units, period }: ReservationState): QuotaEntry {
  return { kind: 'reserved', token: reserveToken(id), ref: id, units, period }
}

/**
 * Charges `units` of a reservation, by default all of them, and releases the rest. Returns undefined if the id has no
 * reservation.
 */
export function endReservation(
  account: QuotaAccount,
  id: string,
  units: number | undefined,
): Exclude<ReservationEnd, 'expired'> | undefined {
  const reservation = account.release(id)
  if (!reservation) return undefined
  const posted = units ?? reservation.units
  account.charge(account.period(reservation.period) ?? account.current, posted, account.now)
  const kind = posted === 0 ? 'voided' : 'posted'
  account.journal.entries.push(endOf(kind, reservation, posted))
  return kind
}

/** Ends expired reservations. */
export function expireReservations(account: QuotaAccount): void {
  for (const { id, endsAt } of account.reservations) {
    const expired = endsAt <= account.now ? account.release(id) : undefined
    if (expired) account.journal.entries.push(endOf('expired', expired, 0))
  }
}

export function reserveToken(id: string): string {
  return `reserve:${id}`
}

export function endToken(id: string): string {
  return `end:${id}`
}

function endOf(kind: ReservationEnd, { id, period }: ReservationState, units: number) {
  return { kind, token: endToken(id), ref: id, units, period } as const
}
