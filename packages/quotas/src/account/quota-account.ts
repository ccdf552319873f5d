import { END_OF_TIME } from '../calendar/endless-period.ts'
import { AccountHolds } from './account-holds.ts'
import { AccountPeriods, type QuotaTerms } from './account-periods.ts'
import { QuotaJournal } from './quota-journal.ts'
import {
  included,
  includedLeft,
  type LeaseState,
  type PeriodState,
  type QuotaState,
  type ReservationState,
} from './quota-state.ts'
import { TopUps } from './top-ups.ts'

/** Farthest period, counted from the current one, whose start is computed as the end of a wait. */
const FARTHEST_PERIOD = 100_000

/**
 * State of a key under a quota at one instant, with the rules for spending and charging its units. It reads no
 * clock and changes only the given state and its journal.
 *
 * For each period, exactly: `limit + carried + toppedUp = used + stranded + left`, where `left` is negative by the
 * units charged beyond the limit.
 */
export class QuotaAccount {
  /** Time of the database, in epoch ms. */
  readonly now: number
  /** See `QuotaTable`. */
  readonly opening: string | undefined
  readonly journal: QuotaJournal = new QuotaJournal()
  readonly topUps: TopUps
  readonly holds: AccountHolds
  readonly #periods: AccountPeriods
  readonly #state: QuotaState
  readonly #terms: QuotaTerms
  #current: PeriodState | undefined

  constructor(state: QuotaState, terms: QuotaTerms, now: number, opening?: string) {
    this.now = now
    this.opening = opening
    this.#state = state
    this.#terms = terms
    this.topUps = new TopUps(state.topUps)
    this.holds = new AccountHolds(state.holds)
    this.#periods = new AccountPeriods(state, terms, now)
  }

  get leases(): LeaseState[] {
    return this.#state.leases
  }

  get reservations(): readonly ReservationState[] {
    return this.#state.reservations
  }

  get periods(): readonly PeriodState[] {
    return this.#periods.all
  }

  /** Range of time around now in which a write belongs to the same hour and period. */
  get writable(): { readonly from: number; readonly until: number } {
    return this.#periods.writable
  }

  /** The current period; if the account was not opened, its last period. */
  get current(): PeriodState {
    const period = this.#current ?? this.#state.periods.at(-1)
    if (!period) throw new Error('the account has no period: call open() first')
    return period
  }

  /** Units included by the plan that used the account last; undefined if no plan has used it. */
  get lastLimit(): number | undefined {
    return this.#state.periods.at(-1)?.limit
  }

  /** Makes the period at `now` the current one, creating it if needed, for a plan that includes `limit` units. */
  open(limit: number): this {
    this.#current = this.#periods.open(this.now, limit)
    return this
  }

  period(label: string): PeriodState | undefined {
    return this.#periods.labelled(label)
  }

  /** Returns the stored period that contains `at`, or the nearest one. */
  periodAt(at: number): PeriodState {
    return this.#periods.from(at) ?? this.current
  }

  /**
   * Returns the period that contains `at`, creating it if needed; the oldest stored period if `at` is before all of
   * them.
   */
  periodOf(at: number, limit: number): PeriodState {
    return this.#periods.late(Math.min(at, this.now), limit)
  }

  /** Number of units that can be spent, reserved or leased now. */
  get free(): number {
    const left = includedLeft(this.current) + this.topUps.left(this.now) - this.pendingTopUps()
    return Math.max(0, left - this.pendingIn(this.current) - this.holds.unitsAt(this.now))
  }

  /** Number of units that are free at `at`, in the current period or after it, if no units are taken until then. */
  freeAt(at: number): number {
    const { current } = this
    const left = includedLeft(current)
    const pending = this.pendingIn(current, at)
    const more = this.topUps.left(at) - this.pendingTopUps(at) - this.holds.unitsAt(at)
    if (current.endsAt > at) return Math.max(0, left + more - pending)
    return Math.max(0, current.limit + Math.min(this.#terms.carryOver, Math.max(0, left - pending)) + more)
  }

  /** Returns the whole milliseconds until units that do not fit now may fit; Infinity if never. */
  waitMs(units: number): number {
    const ends = [this.current.endsAt, ...this.holds.endsAfter(this.now)].sort((one, other) => one - other)
    const fits = ends.find((at) => this.freeAt(at) >= units)
    return fits === undefined ? this.#waitForCarried(units) : Math.ceil(fits - this.now)
  }

  /** Returns the milliseconds until a period has enough units if all leases return, and none are used before. */
  #waitForCarried(units: number): number {
    const { current, now } = this
    const { carryOver } = this.#terms
    const larger = current.limit + this.topUps.left(now)
    const needed = units - larger - Math.min(carryOver, includedLeft(current))
    if (needed <= 0) return Math.ceil(current.endsAt - now)
    const unused = Math.ceil(needed / current.limit)
    if (units > larger + carryOver || unused > FARTHEST_PERIOD) return Number.POSITIVE_INFINITY
    // units that are held may return later than the period begins
    for (let periods = unused; ; periods++) {
      const [startsAt, endsAt] = [1, 2].map((more) => this.#periods.startAfter(current, periods + more))
      const all = larger + Math.min(carryOver, includedLeft(current) + periods * current.limit)
      const instants = [startsAt, ...this.holds.endsAfter(startsAt)]
      const fits = instants.find((at) => at < endsAt && all - this.holds.unitsAt(at) >= units)
      if (fits !== undefined) return Math.ceil(fits - now)
    }
  }

  /** All units of the key in the current period, spent or not. */
  get capacity(): number {
    return included(this.current) + this.current.toppedUp + this.topUps.left(this.now)
  }

  /** Returns the units of a period that are on lease, or reserved until after `at`. Default: now. */
  pendingIn(period: PeriodState, at: number = this.now): number {
    return this.#periods.pendingIn(period, at)
  }

  /**
   * Returns the units of top-ups that are on lease or reserved in periods that are over at `at`. They pay for what does
   * not fit in the included units of those periods. Default: now.
   */
  pendingTopUps(at: number = this.now): number {
    const left = this.topUps.left(at)
    if (left === 0) return 0
    const over = this.periods.filter(({ startsAt, endsAt }) => startsAt < this.current.startsAt || endsAt <= at)
    const beyond = over.map((period) => Math.max(0, this.pendingIn(period, at) - includedLeft(period)))
    return Math.min(
      left,
      beyond.reduce((sum, units) => sum + units, 0),
    )
  }

  /** Spends units. Returns false and spends nothing if they do not fit. */
  take(units: number): boolean {
    if (units > this.free) return false
    this.charge(this.current, units, this.now)
    return true
  }

  /**
   * Charges units that were spent at `at`, even beyond the limit. Negative units are given back, at most as many as
   * were used.
   */
  charge(period: PeriodState, units: number, at: number): void {
    const change = Math.max(units, -period.used)
    if (change === 0) return
    period.used += change
    const toppedUp = this.#fund(period, change)
    this.journal.add(this.#periods.hourIn(period, at), { units: change, toppedUp })
    this.#notice(period)
  }

  /**
   * Charges units of a lease without a report. Negative units reverse such a charge, at most as many as were charged.
   */
  strand(period: PeriodState, units: number, at: number): void {
    const change = Math.max(units, -period.stranded)
    period.stranded += change
    const toppedUp = this.#fund(period, change)
    this.journal.add(this.#periods.hourIn(period, at), { stranded: change, toppedUp })
    this.#notice(period)
  }

  reserve(reservation: ReservationState): void {
    this.#state.reservations.push(reservation)
  }

  /** Removes and returns a reservation; undefined if there is none. */
  release(id: string): ReservationState | undefined {
    const found = this.reservations.find((one) => one.id === id)
    this.#state.reservations = this.reservations.filter((one) => one !== found)
    return found
  }

  removeLeases(which: (lease: LeaseState) => boolean): void {
    this.#state.leases = this.leases.filter((lease) => !which(lease))
  }

  /** When the next lease or reservation ends; undefined if there is none. */
  get dueAt(): number | undefined {
    const ends = [...this.leases.filter(({ units }) => units > 0), ...this.reservations].map(({ endsAt }) => endsAt)
    return ends.length > 0 ? Math.min(...ends) : undefined
  }

  /**
   * Draws the units that a change of a period's usage needs from top-ups, or returns units that are no longer needed.
   * Returns the units drawn, negative if they were returned.
   */
  #fund(period: PeriodState, change: number): number {
    const beyond = Math.max(0, period.used + period.stranded - included(period))
    if (change > 0) {
      const needed = Math.min(change, Math.max(0, beyond - period.toppedUp))
      const drawn = this.topUps.draw(needed, this.now)
      period.toppedUp += drawn
      return drawn
    }
    const unneeded = Math.min(-change, Math.max(0, period.toppedUp - beyond))
    // a period without an end would keep the units of expired top-ups forever
    const back = this.topUps.giveBack(unneeded, period.endsAt === END_OF_TIME ? Number.NEGATIVE_INFINITY : this.now)
    period.toppedUp -= back
    return -back
  }

  #notice(period: PeriodState): void {
    const all = included(period)
    const used = period.used + period.stranded
    // a balance that only top-ups fill includes no units
    if (all === 0) return
    for (const threshold of this.#terms.thresholds) {
      if (threshold <= period.noticed || used * 100 < all * threshold) continue
      period.noticed = threshold
      this.journal.notices.push({ period: period.label, threshold, used, included: all })
    }
  }
}
