import { expect, test } from '@jest/globals'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import type { QuotaTerms } from '../../../packages/quotas/src/account/account-periods.ts'
import { QuotaAccount } from '../../../packages/quotas/src/account/quota-account.ts'
import { emptyState, parseState, serializeState } from '../../../packages/quotas/src/account/quota-state.ts'
import { CalendarPeriods } from '../../../packages/quotas/src/calendar/calendar-periods.ts'
import { KeyZones } from '../../../packages/quotas/src/calendar/key-zones.ts'

const RUNS = 12
const STEPS = 60
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LIMIT = 10
/** Zones at both ends of the world, with whole, half and quarter hours, and with clocks that are set on many dates. */
const ZONES = [
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Pacific/Chatham',
  'Asia/Tokyo',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Europe/Berlin',
  'UTC',
  'America/St_Johns',
  'America/New_York',
  'America/Santiago',
] as const
/** Length of the shortest and the longest period that a change of zones may cause, and of a usual one. */
const LENGTHS = {
  day: [23 * HOUR_MS, 1.5 * DAY_MS + HOUR_MS],
  week: [7 * DAY_MS - 27 * HOUR_MS, 10.5 * DAY_MS + HOUR_MS],
  month: [28 * DAY_MS - 27 * HOUR_MS, 45 * DAY_MS + HOUR_MS],
} as const

/** A key that changes its zone at will and spends all it can, with the laws that must hold for it. */
class Traveller {
  readonly #random: SeededRandom
  readonly #per: keyof typeof LENGTHS
  readonly #resetAt: string | undefined
  readonly #zones: KeyZones
  readonly #terms: QuotaTerms
  /** Start, end and spent units of all periods, in order. */
  readonly periods: { startsAt: number; endsAt: number; label: string; spent: number }[] = []
  #zone: string
  #state = serializeState(emptyState())
  now = Date.UTC(2026, 1, 20) + 12_345

  constructor(random: SeededRandom, per: keyof typeof LENGTHS) {
    this.#random = random
    this.#per = per
    this.#resetAt = random.pick([undefined, '00:00', '02:30', '06:00', '23:45'])
    this.#zone = random.pick(ZONES)
    const calendar = { per, timeZone: 'UTC', ...(this.#resetAt !== undefined && { resetAt: this.#resetAt }) }
    const failed = (error: unknown): void => {
      throw error
    }
    this.#zones = new KeyZones(calendar, () => this.#zone, failed)
    this.#terms = { periods: new CalendarPeriods(calendar), carryOver: 0, thresholds: [80, 100] }
  }

  step(): void {
    this.now += this.#random.pick([1, HOUR_MS, 5 * HOUR_MS, 20 * HOUR_MS, 50 * HOUR_MS])
    const before = this.spend(0)
    this.#zone = this.#random.pick(ZONES)
    // a change of zones changes nothing in the period that has begun
    expect(this.spend(0)).toEqual(before)
    const { endsAt, free } = this.spend(this.#random.pick([0, 3, LIMIT]))
    if (free > 0 || this.#random.whole(2) === 0) return
    // what was announced holds in whatever zone the key is then
    this.now = endsAt - 1
    this.#zone = this.#random.pick(ZONES)
    expect(this.spend(0).free).toBe(0)
    this.now = endsAt
    this.#zone = this.#random.pick(ZONES)
    expect(this.spend(0).free).toBe(LIMIT)
  }

  /** Stays in one zone for a time. */
  stay(zone: string, ms: number): void {
    this.#zone = zone
    for (const until = this.now + ms; this.now < until; this.now += 5 * HOUR_MS) this.spend(LIMIT)
  }

  /** Returns the period of a calendar that does not know the key, at its current time. */
  atHome(zone: string): { readonly startsAt: number; readonly endsAt: number } {
    const { startsAt, endsAt } = (this.#zones.unknown.periodsIn(zone) as CalendarPeriods).at(this.now)
    return { startsAt, endsAt }
  }

  /** Spends up to `units`. Returns the units that are free, and when the period ends. */
  spend(units: number): { readonly free: number; readonly endsAt: number } {
    const state = parseState(this.#state)
    const terms = { ...this.#terms, keyZone: this.#zones.of('key') }
    const account = new QuotaAccount(state, terms, this.now).open(LIMIT)
    const { label, startsAt, endsAt } = account.current
    const spent = Math.min(units, account.free)
    account.take(spent)
    expect([startsAt <= this.now, this.now < endsAt]).toEqual([true, true])
    if (account.free === 0) expect(account.waitMs(1)).toBe(endsAt - this.now)
    for (const { hour } of account.journal.usage) expect([hour >= startsAt, hour <= this.now]).toEqual([true, true])
    const { from, until } = account.writable
    expect([from >= startsAt, from <= this.now, this.now < until, until <= endsAt]).toEqual([true, true, true, true])
    this.#state = serializeState(state)
    const last = this.periods.at(-1)
    if (last?.label === label) last.spent += spent
    else this.periods.push({ startsAt, endsAt, label, spent })
    return { free: account.free, endsAt }
  }

  check(): void {
    const [shortest, longest] = LENGTHS[this.#per]
    const where = `per ${this.#per} at ${this.#resetAt}`
    for (const [index, { startsAt, endsAt, spent }] of this.periods.entries()) {
      expect(spent).toBeLessThanOrEqual(LIMIT)
      expect([where, endsAt - startsAt >= shortest, endsAt - startsAt <= longest]).toEqual([where, true, true])
      expect(startsAt).toBeGreaterThanOrEqual(this.periods[index - 1]?.endsAt ?? 0)
    }
    const labels = this.periods.map(({ label }) => label)
    expect(new Set(labels).size).toBe(labels.length)
  }
}

test.each(['day', 'week', 'month'] as const)(
  'a key has at most one limit a %s, no matter how often it changes its zone, and each limit when it was announced',
  (per) =>
    eachSeed(RUNS, (random) => {
      const traveller = new Traveller(random, per)
      for (let step = 0; step < STEPS; step++) traveller.step()
      traveller.check()
      const begun = traveller.periods.filter(({ startsAt }) => startsAt > traveller.periods[0].startsAt).length
      const total = traveller.now - traveller.periods[0].startsAt
      expect(begun).toBeLessThanOrEqual(total / LENGTHS[per][0])
    }),
)

test.each([
  ['day', 14 * DAY_MS],
  ['week', 18 * DAY_MS],
  ['month', 76 * DAY_MS],
] as const)('a key that stays in a zone has periods of a %s of the zone within %i ms', (per, ms) =>
  eachSeed(RUNS, (random) => {
    const traveller = new Traveller(random, per)
    for (let step = 0; step < 5; step++) traveller.step()
    const zone = random.pick(ZONES)
    traveller.stay(zone, ms)
    traveller.spend(0)
    const { startsAt, endsAt } = traveller.periods.at(-1) ?? {}
    expect({ zone, startsAt, endsAt }).toEqual({ zone, ...traveller.atHome(zone) })
    traveller.check()
  }),
)
