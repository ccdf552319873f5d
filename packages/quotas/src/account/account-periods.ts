import type { CalendarPeriod, CalendarPeriods } from '../calendar/calendar-periods.ts'
import type { KeyZone } from '../calendar/key-zones.ts'
import { includedLeft, type PeriodState, type QuotaState } from './quota-state.ts'

/** Number of past periods kept for late reports, beside periods with reservations. */
const CLOSED_PERIODS = 3

/** Rules for the periods of an account, the same for all keys of a quota. */
export interface QuotaTerms {
  readonly periods: Pick<
    CalendarPeriods,
    'at' | 'between' | 'following' | 'hourAt' | 'sameHourUntil' | 'startAfter' | 'warmUp'
  >
  /** Time zone of the key, if each key has its own. `periods` is then used for keys whose zone is not known. */
  readonly keyZone?: KeyZone | undefined
  /** Maximum number of unused units carried over to the next period. */
  readonly carryOver: number
  /** Percentages of the included units at which a notice is written, in ascending order. */
  readonly thresholds: readonly number[]
}

/**
 * Begins, finds and removes the periods of an account. A period that has begun keeps its end, also if the key's time
 * zone changes; the next one follows the new zone.
 */
export class AccountPeriods {
  readonly #now: number
  readonly #state: QuotaState
  readonly #terms: QuotaTerms
  readonly #calendar: QuotaTerms['periods']
  /** Time zone in which periods begin; undefined if it is the same for all keys. */
  readonly #zone: string | undefined

  constructor(state: QuotaState, terms: QuotaTerms, now: number) {
    const { keyZone } = terms
    this.#now = now
    this.#state = state
    this.#terms = terms
    this.#zone = keyZone && (keyZone.zone ?? state.periods.at(-1)?.zone)
    this.#calendar = this.#calendarIn(this.#zone)
  }

  /** Ordered by start. */
  get all(): readonly PeriodState[] {
    return this.#state.periods
  }

  labelled(label: string): PeriodState | undefined {
    return this.all.find((one) => one.label === label)
  }

  /** Returns the stored period that contains `at`, or the next one; undefined if all have ended. */
  from(at: number): PeriodState | undefined {
    return this.all.find(({ endsAt }) => at < endsAt)
  }

  /** Opens the period that contains `at`, creating it if needed, for a plan that includes `limit` units. */
  open(at: number, limit: number): PeriodState {
    const period = this.#containing(at) ?? this.#begin(at)
    period.limit = limit
    period.carried = this.#carriedInto(period)
    return period
  }

  /**
   * Returns the period that contains `at`, opening it if it is not stored; the oldest stored period if `at` is before
   * all of them and several are stored.
   */
  late(at: number, limit: number): PeriodState {
    const { all } = this
    if (all.length > CLOSED_PERIODS && at < all[0].startsAt) return all[0]
    return this.#containing(at) ?? this.open(at, limit)
  }

  /** Returns the start of the period `count` periods after one, in epoch ms. */
  startAfter(period: PeriodState, count: number): number {
    return this.#calendar.startAfter(period, count)
  }

  /** Returns the units of a period that are on lease, or reserved until after `at`. */
  pendingIn({ label }: PeriodState, at: number): number {
    const { leases, reservations } = this.#state
    const reserved = reservations.filter(({ endsAt }) => endsAt > at)
    return [...leases, ...reserved].reduce((sum, { period, units }) => (period === label ? sum + units : sum), 0)
  }

  /** Returns the hour of `at`, or the nearest hour of the period. */
  hourIn({ startsAt, endsAt }: PeriodState, at: number): number {
    // an hour in which a period begins in the middle is two hours
    return Math.max(startsAt, this.#calendar.hourAt(Math.max(startsAt, Math.min(at, endsAt - 1))))
  }

  /** Range of time around now in which a write belongs to the same hour and period. */
  get writable(): { readonly from: number; readonly until: number } {
    const { startsAt, endsAt } = this.#containing(this.#now) ?? this.#next(this.#now)
    const from = Math.max(startsAt, this.#calendar.hourAt(this.#now))
    // an hour of which a part is repeated is longer than 60 minutes
    return { from, until: Math.min(this.#calendar.sameHourUntil(this.#now), endsAt) }
  }

  #calendarIn(zone: string | undefined): QuotaTerms['periods'] {
    const { keyZone, periods } = this.#terms
    return (zone !== undefined && keyZone?.periodsIn(zone)) || periods
  }

  #containing(at: number): PeriodState | undefined {
    return this.all.find(({ startsAt, endsAt }) => startsAt <= at && at < endsAt)
  }

  #begin(at: number): PeriodState {
    const { label, startsAt, endsAt } = this.#next(at)
    const begun: PeriodState = {
      label: this.#unused(label),
      startsAt,
      endsAt,
      ...(this.#zone !== undefined && { zone: this.#zone }),
      limit: 0,
      carried: 0,
      used: 0,
      stranded: 0,
      toppedUp: 0,
      noticed: 0,
    }
    const { periods } = this.#state
    periods.push(begun)
    periods.sort((one, other) => one.startsAt - other.startsAt)
    // units that are on lease or reserved will be charged to their period
    const isAwaited = (one: PeriodState): boolean => this.pendingIn(one, Number.NEGATIVE_INFINITY) > 0
    const old = periods.slice(0, -CLOSED_PERIODS - 1).filter((one) => one !== begun && !isAwaited(one))
    for (const one of old) periods.splice(periods.indexOf(one), 1)
    return begun
  }

  /** Returns the unused units of the period before one and of unused periods in between, up to the maximum. */
  #carriedInto(period: PeriodState): number {
    const { carryOver } = this.#terms
    if (carryOver === 0) return 0
    const earlier = this.all.filter(({ startsAt }) => startsAt < period.startsAt).at(-1)
    if (!earlier) return 0
    const left = Math.max(0, includedLeft(earlier) - this.pendingIn(earlier, this.#now))
    // all units of the unused periods in between are left
    const unused = this.#calendarIn(period.zone).between(earlier, period)
    return Math.min(carryOver, left + earlier.limit * unused)
  }

  /** Returns the period at an instant that no stored period contains. It ends no later than the next one begins. */
  #next(at: number): CalendarPeriod {
    const before = this.all.findLast(({ endsAt }) => endsAt <= at)
    const after = this.all.find(({ startsAt }) => startsAt > at)
    const period = before ? this.#calendar.following(before.endsAt, at) : this.#calendar.at(at)
    return after ? { ...period, endsAt: Math.min(period.endsAt, after.startsAt) } : period
  }

  /** Numbers a label that is used: a key that moves to the west, over the date line, has a date twice. */
  #unused(label: string): string {
    let unused = label
    for (let number = 2; this.labelled(unused); number++) unused = `${label}.${number}`
    return unused
  }
}
