import type { QuotaEntry } from '../ledger/quota-table.ts'
import { reservedEntry } from './account-reservations.ts'
import type { PeriodState, QuotaState } from './quota-state.ts'
import { topUpEntry } from './top-ups.ts'

/**
 * A stored state and a later one of the same account that the database lost, as one after a failover to a server that was
 * behind: the larger use of each period stands. What other processes wrote to the server that was behind, before anybody
 * came who knew better, is counted by the larger of both.
 */
export function recoveredState(stored: QuotaState, lost: QuotaState): QuotaState {
  return {
    periods: joined(stored.periods, lost.periods, ({ label }) => label, laterPeriod).sort(
      (one, other) => one.startsAt - other.startsAt,
    ),
    topUps: joined(
      stored.topUps,
      lost.topUps,
      ({ token }) => token,
      (one, other) => (one.left < other.left ? one : other),
    ),
    leases: joined(
      stored.leases,
      lost.leases,
      ({ owner }) => String(owner),
      (one, other) => (one.seq > other.seq ? one : other),
    ),
    reservations: joined(
      stored.reservations.filter(({ id }) => lost.reservations.some((one) => one.id === id)),
      lost.reservations,
      ({ id }) => id,
      (one) => one,
    ),
    writers: joined(
      stored.writers,
      lost.writers,
      ({ writer }) => writer,
      (one, other) => (one.seq > other.seq ? one : other),
    ),
  }
}

/** Entries of what is recovered and has a token, so that it still counts once under it. */
export function lostEntries(stored: QuotaState, lost: QuotaState): QuotaEntry[] {
  const { topUps, reservations } = stored
  const bought = lost.topUps.filter(({ token }) => !topUps.some((one) => one.token === token))
  const reserved = lost.reservations.filter(({ id }) => !reservations.some((one) => one.id === id))
  return [
    ...bought.map(({ token, units }) => topUpEntry(token, units)),
    ...reserved.map((reservation) => reservedEntry(reservation)),
  ]
}

function laterPeriod(one: PeriodState, other: PeriodState): PeriodState {
  const later = one.used + one.stranded > other.used + other.stranded ? one : other
  return { ...later, noticed: Math.max(one.noticed, other.noticed), toppedUp: Math.max(one.toppedUp, other.toppedUp) }
}

function joined<T>(
  stored: readonly T[],
  lost: readonly T[],
  keyOf: (one: T) => string,
  later: (one: T, other: T) => T,
): T[] {
  const all = new Map(lost.map((one) => [keyOf(one), one]))
  for (const one of stored) {
    const other = all.get(keyOf(one))
    all.set(keyOf(one), other ? later(one, other) : one)
  }
  return [...all.values()]
}
