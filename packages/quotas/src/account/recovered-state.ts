import type { QuotaEntry } from '@sluice/counters/backend'
import { REPORTED_WITHIN_MS } from './account-leases.ts'
import { reservedEntry } from './account-reservations.ts'
import type { QuotaAccount } from './quota-account.ts'
import type {
  HoldState,
  LeaseState,
  PeriodState,
  QuotaState,
  ReservationState,
  TopUpState,
  WriterState,
} from './quota-state.ts'
import { topUpEntry } from './top-ups.ts'

/** The stored state of an account and a state that was stored earlier. */
interface Histories {
  readonly stored: QuotaState
  readonly kept: QuotaState
}

/** Restores writes that a database lost. */
export interface Recovery {
  /** The stored state merged with the earlier one. Lost usage of periods is not charged in it yet. */
  readonly state: QuotaState
  /** Charges the lost usage, and adds the entries of lost tokens, so that each token still counts once. */
  readonly apply: (account: QuotaAccount) => void
}

/**
 * Returns how to restore writes in `kept` that the database lost, e.g. after a failover to a server that was behind;
 * undefined if no write was lost. Each process charges what the writers known to it have charged, and records this
 * under their names. Other processes then charge only what is still missing, and no unit is charged twice.
 */
export function recoveryOf(histories: Histories, now: number): Recovery | undefined {
  const lost = lostWriters(histories)
  if (lost.length === 0) return undefined
  const { stored, kept } = histories
  const state = joinedState(histories, lost, now)
  const entries = lostEntries(stored, state)
  const apply = (account: QuotaAccount): void => {
    for (const { label } of kept.periods) {
      const period = account.period(label)
      const units = lost.reduce((sum, writer) => sum + chargedBy(writer, label, stored), 0)
      if (period) account.charge(period, units, account.now)
    }
    account.journal.entries.push(...entries)
  }
  return { state, apply }
}

function joinedState({ stored, kept }: Histories, lost: readonly WriterState[], now: number): QuotaState {
  const isRemembered = ({ endsAt }: LeaseState): boolean => endsAt + REPORTED_WITHIN_MS > now
  return {
    periods: joined(stored.periods, kept.periods.map(emptied), ({ label }) => label, latest).sort(
      (one, other) => one.startsAt - other.startsAt,
    ),
    topUps: joined(stored.topUps, kept.topUps.map(whole), ({ token }) => token, first),
    leases: joined(stored.leases, kept.leases.filter(isRemembered).map(unsettled), ({ owner }) => owner, laterLease),
    reservations: joinedReservations({ stored, kept }),
    holds: joinedHolds({ stored, kept }),
    writers: joined(
      stored.writers,
      lost,
      ({ writer }) => writer,
      (_, one) => one,
    ),
    forgottenAt: stored.forgottenAt,
  }
}

/**
 * Merges reservations. A reservation missing on one side has ended there if it was made before the last shared write;
 * newer reservations are kept.
 */
function joinedReservations({ stored, kept }: Histories): ReservationState[] {
  const sharedUntil = lastShared({ stored, kept })
  const isNew = ({ madeAt = Number.POSITIVE_INFINITY }: ReservationState): boolean => madeAt > sharedUntil
  const isIn = (all: QuotaState, { id }: ReservationState): boolean => all.reservations.some((one) => one.id === id)
  return [
    ...stored.reservations.filter((one) => isIn(kept, one) || isNew(one)),
    ...kept.reservations.filter((one) => !isIn(stored, one) && isNew(one)),
  ]
}

/**
 * Merges holds. If the database has no write that `kept` lacks, `kept` is what it lost. Otherwise the larger number of
 * units stays held until each time, because holds have no names; what is too much returns with its slice.
 */
function joinedHolds({ stored, kept }: Histories): HoldState[] {
  if (sharedWriters({ stored, kept }).length === stored.writers.length) return kept.holds
  const larger = (one: HoldState, other: HoldState): HoldState => (other.units > one.units ? other : one)
  return joined(stored.holds, kept.holds, ({ endsAt }) => endsAt, larger).sort((a, b) => a.endsAt - b.endsAt)
}

/**
 * Returns the writers with a later write in `kept` than in the database, except writers the database has removed as
 * inactive.
 */
function lostWriters({ stored, kept }: Histories): readonly WriterState[] {
  const found = new Map(stored.writers.map((one) => [one.writer, one.seq]))
  return kept.writers.filter(({ writer, seq, at }) => seq > (found.get(writer) ?? (at > stored.forgottenAt ? 0 : seq)))
}

function chargedBy({ writer, charged }: WriterState, label: string, stored: QuotaState): number {
  const before = stored.writers.find((one) => one.writer === writer)
  return (charged?.[label] ?? 0) - (before?.charged?.[label] ?? 0)
}

/** Returns the time of the last write included in both states. */
function lastShared(both: Histories): number {
  return Math.max(both.stored.forgottenAt, ...sharedWriters(both).map(({ at }) => at))
}

/** Returns the writers of the database whose last write is included in `kept`. */
function sharedWriters({ stored, kept }: Histories): readonly WriterState[] {
  const known = new Map(kept.writers.map(({ writer, seq }) => [writer, seq]))
  return stored.writers.filter(({ writer, seq }) => seq <= (known.get(writer) ?? -1))
}

function lostEntries(stored: QuotaState, { topUps, reservations }: QuotaState): QuotaEntry[] {
  const bought = topUps.filter(({ token }) => !stored.topUps.some((one) => one.token === token))
  const reserved = reservations.filter(({ id }) => !stored.reservations.some((one) => one.id === id))
  return [...bought.map(({ token, units }) => topUpEntry(token, units)), ...reserved.map(reservedEntry)]
}

function latest(one: PeriodState, other: PeriodState): PeriodState {
  return { ...one, noticed: Math.max(one.noticed, other.noticed) }
}

function emptied(period: PeriodState): PeriodState {
  return { ...period, used: 0, stranded: 0, toppedUp: 0 }
}

/** Restores all units of a top-up; the units spent of it are charged again. */
function whole(topUp: TopUpState): TopUpState {
  return { ...topUp, left: topUp.units }
}

/** Restores the settled units of a lease; they are charged again, with an entry, when the account is next settled. */
function unsettled(lease: LeaseState): LeaseState {
  return { ...lease, units: lease.units + lease.settled, settled: 0 }
}

/** Returns the later of two leases. Units charged for the earlier one stay charged until the owner reports. */
function laterLease(one: LeaseState, other: LeaseState): LeaseState {
  return other.seq > one.seq ? { ...other, settled: one.settled } : one
}

function first<T>(one: T): T {
  return one
}

function joined<T>(
  stored: readonly T[],
  kept: readonly T[],
  keyOf: (one: T) => string | number,
  join: (stored: T, kept: T) => T,
): T[] {
  const all = new Map(stored.map((one) => [keyOf(one), one]))
  for (const one of kept) {
    const other = all.get(keyOf(one))
    all.set(keyOf(one), other ? join(other, one) : one)
  }
  return [...all.values()]
}
