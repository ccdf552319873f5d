import type { QuotaEntry } from '../ledger/quota-table.ts'
import { REPORTED_WITHIN_MS } from './account-leases.ts'
import { reservedEntry } from './account-reservations.ts'
import type { QuotaAccount } from './quota-account.ts'
import type { LeaseState, PeriodState, QuotaState, ReservationState, TopUpState, WriterState } from './quota-state.ts'
import { topUpEntry } from './top-ups.ts'

/** What a database has of an account, and a state of it that once stood there. */
interface Histories {
  readonly stored: QuotaState
  readonly kept: QuotaState
}

/** What a database that was behind gets back. */
export interface Recovery {
  /** What it has, with what else was known; of what is lost of a period's use nothing is charged yet. */
  readonly state: QuotaState
  /** Charges what each lost write did, and enters what has a token, so that it still counts once under it. */
  readonly apply: (account: QuotaAccount) => void
}

/**
 * What to do where the database lost a write that `kept` has, as one after a failover to a server that was behind;
 * undefined where it lost none. Each process charges what the writers that it knows have charged, and says so under
 * their names: whoever else comes charges what is still missing, and no unit twice.
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
    writers: joined(
      stored.writers,
      lost,
      ({ writer }) => writer,
      (_, one) => one,
    ),
    forgottenAt: stored.forgottenAt,
  }
}

/** One that both had and that is on one side alone has ended on the other; one made since is not known there. */
function joinedReservations({ stored, kept }: Histories): ReservationState[] {
  const sharedUntil = lastShared({ stored, kept })
  const isNew = ({ madeAt = Number.POSITIVE_INFINITY }: ReservationState): boolean => madeAt > sharedUntil
  const isIn = (all: QuotaState, { id }: ReservationState): boolean => all.reservations.some((one) => one.id === id)
  return [
    ...stored.reservations.filter((one) => isIn(kept, one) || isNew(one)),
    ...kept.reservations.filter((one) => !isIn(stored, one) && isNew(one)),
  ]
}

/** Writers of whom the database has an earlier write than `kept`; one that it has forgotten is none. */
function lostWriters({ stored, kept }: Histories): readonly WriterState[] {
  const found = new Map(stored.writers.map((one) => [one.writer, one.seq]))
  return kept.writers.filter(({ writer, seq, at }) => seq > (found.get(writer) ?? (at > stored.forgottenAt ? 0 : seq)))
}

function chargedBy({ writer, charged }: WriterState, label: string, stored: QuotaState): number {
  const before = stored.writers.find((one) => one.writer === writer)
  return (charged?.[label] ?? 0) - (before?.charged?.[label] ?? 0)
}

/** When a write was made that both have. */
function lastShared({ stored, kept }: Histories): number {
  const known = new Map(kept.writers.map(({ writer, seq }) => [writer, seq]))
  const shared = stored.writers.filter(({ writer, seq }) => seq <= (known.get(writer) ?? -1))
  return Math.max(stored.forgottenAt, ...shared.map(({ at }) => at))
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

/** What was spent of it is charged again. */
function whole(topUp: TopUpState): TopUpState {
  return { ...topUp, left: topUp.units }
}

/** What was charged for it is charged when the account is next looked at, with an entry of its own. */
function unsettled(lease: LeaseState): LeaseState {
  return { ...lease, units: lease.units + lease.settled, settled: 0 }
}

/** What was charged for an earlier one stays so until its owner reports. */
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
