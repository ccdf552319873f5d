import { expect, test } from '@jest/globals'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import type { UsageLine } from '../../packages/counters/src/ledger/quota-table.ts'
import { creditLease, leaseRef, requestLease, settleLeases } from '../../packages/quotas/src/account/account-leases.ts'
import type { QuotaTerms } from '../../packages/quotas/src/account/account-periods.ts'
import {
  endReservation,
  expireReservations,
  reserveUnits,
} from '../../packages/quotas/src/account/account-reservations.ts'
import { QuotaAccount } from '../../packages/quotas/src/account/quota-account.ts'
import { emptyState, parseState, serializeState } from '../../packages/quotas/src/account/quota-state.ts'
import { CalendarPeriods } from '../../packages/quotas/src/calendar/calendar-periods.ts'
import { balanceOf } from '../../packages/quotas/src/quota-balance.ts'

const RUNS = 40
const STEPS = 80
const HOUR_MS = 3_600_000
const LEASE_MS = 10_000

const HOLD_SLICE_MS = 5_000

/** The lease of one process for a key: it spends granted units, loses answers, and pauses for a while. */
interface Owner {
  readonly owner: number
  seq: number
  base: number
  spent: number
  left: number
}

/** An account under random operations, with the invariants that must always hold. */
class AccountLaws {
  readonly #random: SeededRandom
  readonly #terms: QuotaTerms
  readonly #limits: readonly number[]
  readonly #owners: Owner[] = [1, 2, 3].map((owner) => ({ owner, seq: 0, base: 0, spent: 0, left: 0 }))
  /** Sum of all usage entries of the journal, by hour. */
  readonly #usage = new Map<number, UsageLine>()
  #state = serializeState(emptyState())
  #now = Date.UTC(2026, 9, 24)
  #bought = 0
  #made = 0

  constructor(random: SeededRandom) {
    this.#random = random
    const timeZone = random.pick(['UTC', 'Europe/Berlin', 'America/New_York'])
    const per = random.pick(['day', 'week', 'month'] as const)
    const carryOver = random.pick([0, 7, 1_000])
    this.#terms = { periods: new CalendarPeriods({ per, timeZone }), carryOver, thresholds: [80, 100] }
    this.#limits = random.pick([[10], [100], [10, 100], [999_999_999_999_999]])
  }

  step(): void {
    const random = this.#random
    this.#now += random.pick([0, 1, 1_000, 4_000, 12_000, HOUR_MS, 20 * HOUR_MS, -2_000])
    const state = parseState(this.#state)
    const account = new QuotaAccount(state, this.#terms, this.#now)
    settleLeases(account)
    expireReservations(account)
    account.open(random.pick(this.#limits))
    const before = account.free
    const charged = this.#act(account, random.whole(100))
    if (charged !== undefined) expect(account.free).toBe(before - charged)
    this.#state = serializeState(state)
    for (const { hour, ...units } of account.journal.usage) this.#note(hour, units)
    this.#check(new QuotaAccount(parseState(this.#state), this.#terms, this.#now).open(account.current.limit))
  }

  /** Applies a random operation. Returns how many units it consumed, or undefined if this cannot be predicted. */
  #act(account: QuotaAccount, kind: number): number | undefined {
    const random = this.#random
    const units = 1 + random.whole(20)
    if (kind < 15) return account.take(units) ? units : 0
    if (kind < 30) return this.#hold(account, units)
    if (kind < 60) return this.#ask(account, random.pick(this.#owners))
    if (kind < 66) this.#topUp(account, units)
    else if (kind < 72) account.charge(account.periodAt(this.#now - random.whole(50) * HOUR_MS), units, this.#now)
    else if (kind < 78) account.charge(account.current, -units, this.#now)
    else if (kind < 86) {
      const free = account.free
      const made = reserveUnits(account, { id: `r${this.#made++}`, units, ttlMs: random.pick([1_000, HOUR_MS]) })
      expect(made !== undefined).toBe(units <= free)
      return made ? units : 0
    } else if (kind < 94) this.#end(account, units)
    else this.#credit(account)
    return undefined
  }

  /** Holds units, or releases some that were held. Returns how many units are held more. */
  #hold(account: QuotaAccount, units: number): number {
    const [endsAt] = account.holds.endsAfter(this.#now)
    if (endsAt !== undefined && this.#random.whole(2) === 0) {
      const before = account.free
      account.holds.release({ units, endsAt }, this.#now)
      // units in debt are free only after the debt is paid
      return before - account.free
    }
    if (units > account.free) return 0
    const slices = Math.floor(this.#now / HOLD_SLICE_MS) + 1 + this.#random.whole(9)
    account.holds.hold({ units, endsAt: slices * HOLD_SLICE_MS }, this.#now)
    return units
  }

  #ask(account: QuotaAccount, owner: Owner): undefined {
    const random = this.#random
    const spent = random.whole(owner.left + 1)
    owner.left -= spent
    owner.spent += spent
    // like a lease that has ended or is no longer needed
    if (random.whole(3) === 0) owner.left = 0
    const isLost = random.whole(5) === 0
    const want = random.whole(30)
    const ask = { key: 'k', counter: undefined as never, owner: owner.owner, seq: ++owner.seq, base: owner.base }
    const demand = random.whole(want + 1)
    const told = { ...ask, spent: owner.spent, keep: owner.left, want, demand, minimum: 1, need: want }
    const grant = requestLease(account, told, { leaseMs: LEASE_MS, fraction: 0.1 })
    expect(grant.granted).toBeLessThanOrEqual(want)
    expect(grant.free).toBeGreaterThanOrEqual(0)
    if (isLost) return
    owner.base = owner.seq
    owner.spent = 0
    owner.left += grant.granted
  }

  #topUp(account: QuotaAccount, units: number): void {
    const endsAt = this.#random.pick([null, this.#now + 100 * HOUR_MS])
    account.topUps.add({ token: `t${this.#made++}`, units, left: units, endsAt }, this.#now)
    this.#bought += units
  }

  #end(account: QuotaAccount, units: number): void {
    const reservation = this.#random.pick(account.reservations)
    if (!reservation) return
    const posted = this.#random.pick([undefined, 0, units])
    endReservation(account, reservation.id, posted)
    expect(endReservation(account, reservation.id, posted)).toBeUndefined()
  }

  #credit(account: QuotaAccount): void {
    const lease = this.#random.pick(account.leases.filter(({ settled }) => settled > 0))
    if (lease) creditLease(account, leaseRef(lease), lease.period, lease.settled)
  }

  #note(hour: number, { units, stranded, toppedUp }: Omit<UsageLine, 'hour'>): void {
    const line = this.#usage.get(hour) ?? { hour, units: 0, stranded: 0, toppedUp: 0 }
    line.units += units
    line.stranded += stranded
    line.toppedUp += toppedUp
    this.#usage.set(hour, line)
  }

  #check(account: QuotaAccount): void {
    const { included, carried, toppedUp, topUpLeft, used, stranded, onLease, reserved, held, left } = balanceOf(account)
    expect(included + carried + toppedUp + topUpLeft).toBe(used + stranded + onLease + reserved + held + left)
    expect(account.free).toBeGreaterThanOrEqual(Math.max(0, left))
    expect(toppedUp + topUpLeft).toBeLessThanOrEqual(this.#bought)
    expect(carried).toBeLessThanOrEqual(this.#terms.carryOver)
    for (const period of account.periods) this.#checkPeriod(period)
    for (const { units, settled } of account.leases) expect(Math.min(units, settled)).toBeGreaterThanOrEqual(0)
  }

  #checkPeriod({ startsAt, endsAt, ...period }: QuotaAccount['current']): void {
    const lines = [...this.#usage.values()].filter(({ hour }) => hour >= startsAt && hour < endsAt)
    const sum = (of: (line: UsageLine) => number): number => lines.reduce((units, line) => units + of(line), 0)
    const journaled = [sum(({ units }) => units), sum(({ stranded }) => stranded), sum((line) => line.toppedUp)]
    expect(journaled).toEqual([period.used, period.stranded, period.toppedUp])
    for (const units of journaled) expect(units).toBeGreaterThanOrEqual(0)
  }
}

test('an account and its journal are balanced in each period after any operations', () =>
  eachSeed(RUNS, (random) => {
    const laws = new AccountLaws(random)
    for (let i = 0; i < STEPS; i++) laws.step()
  }))
