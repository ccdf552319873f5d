import type { UsageLine } from '../ledger/quota-table.ts'
import type { CalendarPeriod, CalendarPeriods } from './calendar-periods.ts'
import { QuotaJournal } from './quota-journal.ts'
import type { LeaseState, PeriodState, QuotaState, ReservationState } from './quota-state.ts'
import { TopUps } from './top-ups.ts'

/** Closed periods that are kept beside the one that runs, for what is reported late. */
const CLOSED_PERIODS = 3
/** Per cent of what a period includes, upwards. */
const THRESHOLDS = [80, 100] as const

/** What decides the periods of an account, the same for all keys of one quota. */
export interface QuotaTerms {
  readonly periods: CalendarPeriods
  /** Units that were left of a period and are there in the next one, at most. */
  readonly carryOver: number
}

/**
 * One key under one quota at one instant: what it may spend, and what becomes of it. Pure: reads no clock, and changes
 * nothing but the state that it was given and its journal.
 *
 * For each period, exactly: `limit + carried + toppedUp = used + stranded + left`, where `left` is negative by what was
 * charged beyond all of it.
 */
export class QuotaAccount {
  /** By the clock of the database, in epoch ms. */
  readonly now: number
  readonly journal: QuotaJournal = new QuotaJournal()
  readonly topUps: TopUps
  readonly #state: QuotaState
  readonly #terms: QuotaTerms
  #current: PeriodState | undefined

  constructor(state: QuotaState, terms: QuotaTerms, now: number) {
    this.now = now
    this.#state = state
    this.#terms = terms
    this.topUps = new TopUps(state.topUps)
  }

  get leases(): LeaseState[] {
    return this.#state.leases
  }

  get reservations(): readonly ReservationState[] {
    return this.#state.reservations
  }

  get periods(): readonly PeriodState[] {
    return this.#state.periods
  }

  /** The one that runs. Of an account that was not opened: the last one, if any. */
  get current(): PeriodState {
    const period = this.#current ?? this.#state.periods.at(-1)
    if (!period) throw new Error('a quota that was never opened has no period')
    return period
  }

  /** What the plan that asked last includes; undefined where none ever did. */
  get lastLimit(): number | undefined {
    return this.#state.periods.at(-1)?.limit
  }

  /** Begins the period that runs now, where it has not begun, for a plan that includes `limit`. */
  open(limit: number): this {
    const calendar = this.#terms.periods.at(this.now)
    const period = this.period(calendar.label) ?? this.#begin(calendar)
    period.limit = limit
    period.carried = this.#carriedInto(calendar)
    this.#current = period
    return this
  }

  period(label: string): PeriodState | undefined {
    return this.#state.periods.find((one) => one.label === label)
  }

  /** The period in which `at` is, as far as it is kept; else the one nearest to it. */
  periodAt(at: number): PeriodState {
    const { periods } = this.#state
    return periods.find(({ endsAt }) => at < endsAt) ?? this.current
  }

  /** The period in which `at` was, begun where it is not there; one before all that are kept is the first of those. */
  periodOf(at: number, limit: number): PeriodState {
    const calendar = this.#terms.periods.at(Math.min(at, this.now))
    const { periods } = this.#state
    const isBeforeAll = periods.length > CLOSED_PERIODS && calendar.startsAt < periods[0].startsAt
    if (isBeforeAll) return periods[0]
    const found = this.period(calendar.label)
    if (found) return found
    const begun = this.#begin(calendar)
    begun.limit = limit
    begun.carried = this.#carriedInto(calendar)
    return begun
  }

  /** Units that may be spent or lent now. */
  get free(): number {
    const left = includedLeft(this.current) + this.topUps.left(this.now)
    return Math.max(0, left - this.pendingIn(this.current))
  }

  /** The most units that the key has in this period, all of it. */
  get capacity(): number {
    return included(this.current) + this.current.toppedUp + this.topUps.left(this.now)
  }

  /** Units that the next period has at most, as things are: what never fits into it never fits. */
  get nextCapacity(): number {
    const carried = Math.min(this.#terms.carryOver, includedLeft(this.current))
    return this.current.limit + carried + this.topUps.left(this.now)
  }

  /** Units of a period on lease or reserved. */
  pendingIn({ label }: PeriodState): number {
    const ofPeriod = ({ period }: { readonly period: string }): boolean => period === label
    const sum = (all: readonly { readonly units: number }[]): number => all.reduce((units, one) => units + one.units, 0)
    return sum(this.leases.filter(ofPeriod)) + sum(this.reservations.filter(ofPeriod))
  }

  /** Spends units that fit; false where they do not, and nothing is spent. */
  take(units: number): boolean {
    if (units > this.free) return false
    this.charge(this.current, units, this.now)
    return true
  }

  /** Charges units that were spent at `at`, beyond what is left, too; negative ones are given back, as far as there are any. */
  charge(period: PeriodState, units: number, at: number): void {
    const change = Math.max(units, -period.used)
    if (change === 0) return
    period.used += change
    const toppedUp = this.#fund(period, change)
    this.journal.add(this.#hourIn(period, at), { units: change, toppedUp })
    this.#notice(period)
  }

  /** Charges units of which nobody said that they were spent; negative ones take that back. */
  strand(period: PeriodState, units: number, at: number): void {
    const change = Math.max(units, -period.stranded)
    period.stranded += change
    const toppedUp = this.#fund(period, change)
    this.journal.add(this.#hourIn(period, at), { stranded: change, toppedUp })
    this.#notice(period)
  }

  /** Writes units into the journal that the state has. */
  journalAgain(period: PeriodState, units: Partial<Omit<UsageLine, 'hour'>>): void {
    this.journal.add(this.#hourIn(period, this.now), units)
  }

  reserve(reservation: ReservationState): void {
    this.#state.reservations.push(reservation)
  }

  /** Removes a reservation; undefined where there is none. */
  release(id: string): ReservationState | undefined {
    const found = this.reservations.find((one) => one.id === id)
    this.#state.reservations = this.reservations.filter((one) => one !== found)
    return found
  }

  removeLeases(which: (lease: LeaseState) => boolean): void {
    this.#state.leases = this.leases.filter((lease) => !which(lease))
  }

  /** When something of it ends by itself; undefined where nothing does. */
  get dueAt(): number | undefined {
    const ends = [...this.leases.filter(({ units }) => units > 0), ...this.reservations].map(({ endsAt }) => endsAt)
    return ends.length > 0 ? Math.min(...ends) : undefined
  }

  #begin({ label, startsAt, endsAt }: CalendarPeriod): PeriodState {
    const { periods } = this.#state
    const begun: PeriodState = {
      label,
      startsAt,
      endsAt,
      limit: 0,
      carried: 0,
      used: 0,
      stranded: 0,
      toppedUp: 0,
      noticed: 0,
    }
    periods.push(begun)
    periods.sort((one, other) => one.startsAt - other.startsAt)
    while (periods.length > CLOSED_PERIODS + 1) periods.splice(periods[0] === begun ? 1 : 0, 1)
    return begun
  }

  #carriedInto(calendar: CalendarPeriod): number {
    const { carryOver, periods } = this.#terms
    if (carryOver === 0) return 0
    const earlier = this.#state.periods.filter(({ startsAt }) => startsAt < calendar.startsAt).at(-1)
    if (!earlier) return 0
    const left = Math.min(carryOver, Math.max(0, includedLeft(earlier) - this.pendingIn(earlier)))
    // of a period in which nobody came all is left
    const isNext = periods.before(calendar).label === earlier.label
    return isNext ? left : Math.min(carryOver, earlier.limit + left)
  }

  /** Draws what a change of a period's use needs from top-ups, or gives back what it does not need any more. */
  #fund(period: PeriodState, change: number): number {
    const beyond = Math.max(0, period.used + period.stranded - included(period))
    if (change > 0) {
      const needed = Math.min(change, Math.max(0, beyond - period.toppedUp))
      const drawn = this.topUps.draw(needed, this.now)
      period.toppedUp += drawn
      return drawn
    }
    const unneeded = Math.min(-change, Math.max(0, period.toppedUp - beyond))
    const back = this.topUps.giveBack(unneeded, this.now)
    period.toppedUp -= back
    return -back
  }

  /** The hour of `at`, or the nearest one of the period. */
  #hourIn({ startsAt, endsAt }: PeriodState, at: number): number {
    return this.#terms.periods.hourAt(Math.max(startsAt, Math.min(at, endsAt - 1)))
  }

  #notice(period: PeriodState): void {
    const all = included(period)
    const used = period.used + period.stranded
    for (const threshold of THRESHOLDS) {
      if (threshold <= period.noticed || used * 100 < all * threshold) continue
      period.noticed = threshold
      this.journal.notices.push({ period: period.label, threshold, used, included: all })
    }
  }
}

/** Units that a period has without top-ups. */
export function included({ limit, carried }: PeriodState): number {
  return limit + carried
}

/** Those of them that nothing was charged to. */
export function includedLeft(period: PeriodState): number {
  return Math.max(0, included(period) - (period.used + period.stranded - period.toppedUp))
}
