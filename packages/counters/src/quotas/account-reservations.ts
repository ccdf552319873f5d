import type { QuotaEntry } from '../ledger/quota-table.ts'
import type { QuotaAccount } from './quota-account.ts'
import type { ReservationState } from './quota-state.ts'

/** What became of a reservation: once, whoever asks for it first. */
export type ReservationEnd = 'posted' | 'voided' | 'expired'

/** Sets units aside, of an open account, where they fit; the same id again answers the same. */
export function reserveUnits(
  account: QuotaAccount,
  { id, units, forMs }: { readonly id: string; readonly units: number; readonly forMs: number },
): ReservationState | undefined {
  const standing = account.reservations.find((one) => one.id === id)
  if (standing || units > account.free) return standing
  const { current, now } = account
  const reservation = { id, period: current.label, units, endsAt: Math.floor(now + forMs), madeAt: now }
  account.reserve(reservation)
  account.journal.entries.push(reservedEntry(reservation))
  return reservation
}

export function reservedEntry({ id, units, period }: ReservationState): QuotaEntry {
  return { kind: 'reserved', token: reserveToken(id), ref: id, units, period }
}

/** Charges `units` of a reservation, all of them unless said, and frees the rest; undefined where there is none. */
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

/** Ends those whose time is over. */
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
