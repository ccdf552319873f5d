import type { CompiledPolicy, Policy, PolicyBookings, PolicyHolds } from '../contracts.ts'
import { capacityOf, drainPerMs, reachMs, retentionMs } from './policy-forms.ts'
import { AVAILABLE_AFTER, WAIT } from './verdict-numbers.ts'
import { WrappedPolicy } from './wrapped-policy.ts'

/** `Retry-After` has whole seconds, so clients return up to a second after their turn, and 100 ms of latency later. */
const SPREAD_MS = 1_100
/** How long a turn is kept for a client that is late: a second of rounding, and a second of latency. */
const GRACE_MS = 2_000
/** Number of limits of a key that can be booked. */
const LONGEST_QUEUE = 10
/** Tolerance for rounding errors in sums of doubles. */
const ROUNDING_MS = 1

// own cells
const NEXT = 0
const END = 1
const BOOKED = 2
const OWN_CELLS = 3

/**
 * A policy whose denied callers book a turn. Its cells are those of the policy, then [next turn, end of the queue,
 * units booked]: a virtual queue in which each unit follows the previous one after `paceMs`. The policy still judges
 * every take, so bookings never admit more than it does. Translated to Lua; see `UsagePolicy`.
 *
 * Guarantee: the guarantee of the policy.
 */
export class BookingPolicy extends WrappedPolicy implements PolicyBookings {
  readonly paceMs: number
  readonly most: number
  readonly longestMs: number
  readonly isWeighted: boolean
  readonly bookings: PolicyBookings = this
  readonly holds: PolicyHolds | undefined

  constructor(inner: CompiledPolicy) {
    super(inner, OWN_CELLS)
    this.isWeighted = inner.policy.algorithm === 'sliding-window' && (inner.policy.slices ?? 1) === 1
    this.paceMs = paceMsOf(inner.policy, inner.capacity, this.isWeighted)
    this.most = LONGEST_QUEUE * Math.max(inner.policy.limit, inner.capacity)
    this.longestMs = retentionMs(inner) + SPREAD_MS
    this.holds = inner.holds
  }

  override take(cells: Float64Array, at: number, now: number, cost: number, numbers: Float64Array): void {
    // most keys have no queue
    const isPlain = cells[at + this.first + BOOKED] === 0
    if (isPlain) this.inner.take(cells, at, now, cost, numbers)
    if (!isPlain || numbers[WAIT] > 0) super.take(cells, at, now, cost, numbers)
  }

  override numbers(
    cells: Float64Array,
    at: number,
    now: number,
    cost: number,
    waitMs: number,
    numbers: Float64Array,
  ): void {
    // usage without turns
    if (cost === 0) this.inner.numbers(cells, at, now, cost, waitMs, numbers)
    else {
      super.numbers(cells, at, now, cost, waitMs, numbers)
      // the next turn is later than one that was just booked
      if (waitMs > 0) numbers[AVAILABLE_AFTER] = Math.min(numbers[AVAILABLE_AFTER], waitMs)
    }
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0 || cost > this.capacity) return this.inner.waitMs(cells, at, now, cost)
    const booked = this.#booked(cells, at, now)
    if (this.#fits(cells, at, now, cost, booked)) return 0
    return this.#wholeSeconds(this.#turnMs(cells, at, now, cost, booked))
  }

  override spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost > 0) this.pass(cells, at, now, cost)
    this.inner.spend(cells, at, now, cost)
  }

  pass(cells: Float64Array, at: number, now: number, cost: number): void {
    const booked = this.#lapse(cells, at, now)
    if (booked > 0 && this.#isDue(cells, at, now)) {
      const units = this.#turnsOf(cost)
      cells[at + this.first + NEXT] += units * this.paceMs
      cells[at + this.first + BOOKED] = Math.max(0, booked - units)
    }
  }

  book(cells: Float64Array, at: number, now: number, cost: number): boolean {
    if (cost === 0 || cost > this.capacity) return false
    const nextBefore = cells[at + this.first + NEXT]
    const bookedBefore = cells[at + this.first + BOOKED]
    const booked = this.#lapse(cells, at, now)
    const hasLapsed = cells[at + this.first + NEXT] !== nextBefore || booked !== bookedBefore
    const units = this.#turnsOf(cost)
    if (booked + units > this.most || this.#fits(cells, at, now, cost, booked)) return hasLapsed
    const turnMs = this.#turnMs(cells, at, now, cost, booked)
    // no other caller may have the first turn before its caller returns
    const turn = now + (booked === 0 ? this.#wholeSeconds(turnMs) : turnMs)
    const end = turn + units * this.paceMs
    if (this.#isLeftOver(cells, at, now, end, booked + units)) return hasLapsed
    if (booked === 0) cells[at + this.first + NEXT] = turn
    cells[at + this.first + END] = end
    cells[at + this.first + BOOKED] = booked + units
    return true
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    const left = this.inner.remaining(cells, at, now)
    const booked = this.#booked(cells, at, now)
    return booked === 0 || this.#isDue(cells, at, now) ? left : Math.max(0, left - Math.ceil(booked))
  }

  override keptMs(cells: Float64Array, at: number, now: number): number {
    return this.#keptUntilMs(cells, at, now, cells[at + this.first + END])
  }

  untilNextMs(cells: Float64Array, at: number, now: number): number {
    const next = Math.max(cells[at + this.first + NEXT], now)
    return this.#keptUntilMs(cells, at, now, Math.min(next, cells[at + this.first + END]))
  }

  /** Returns the milliseconds until the cells of the policy hold nothing, and turns before `end` are over. */
  #keptUntilMs(cells: Float64Array, at: number, now: number, end: number): number {
    const usedMs = this.inner.keptMs(cells, at, now)
    return this.#booked(cells, at, now) === 0 ? usedMs : Math.max(usedMs, end + GRACE_MS - now)
  }

  /** Whether a take fits: at a turn, or because the policy has room for it beside all booked units. */
  #fits(cells: Float64Array, at: number, now: number, cost: number, booked: number): boolean {
    const mayTake = booked === 0 || this.#isDue(cells, at, now)
    if (mayTake && this.inner.waitMs(cells, at, now, cost) === 0) return true
    const needed = Math.ceil(booked) + cost
    return booked > 0 && needed <= this.capacity && this.inner.waitMs(cells, at, now, needed) === 0
  }

  /** Returns the milliseconds until the turn of a take that does not fit: behind the queue, and when there is room. */
  #turnMs(cells: Float64Array, at: number, now: number, cost: number, booked: number): number {
    const roomMs = this.inner.waitMs(cells, at, now, Math.min(this.capacity, Math.ceil(booked) + cost))
    return booked === 0 ? roomMs : Math.max(roomMs, cells[at + this.first + END] - now)
  }

  #isDue(cells: Float64Array, at: number, now: number): boolean {
    return now >= cells[at + this.first + NEXT] - ROUNDING_MS
  }

  /** Returns the units whose turns are not over. */
  #booked(cells: Float64Array, at: number, now: number): number {
    const booked = cells[at + this.first + BOOKED]
    if (booked === 0) return 0
    const end = cells[at + this.first + END]
    const queuedMs = end - Math.max(cells[at + this.first + NEXT], now - GRACE_MS)
    // a turn may be shorter than the tolerance
    if (queuedMs <= Math.min(ROUNDING_MS, this.paceMs / 2)) return 0
    return this.#isLeftOver(cells, at, now, end, booked) ? 0 : Math.min(booked, queuedMs / this.paceMs)
  }

  /** Whether a queue ends later than its units explain: the clock was set back, or the limit was raised. */
  #isLeftOver(cells: Float64Array, at: number, now: number, end: number, units: number): boolean {
    const queuedMs = Math.min(units, this.most) * this.paceMs
    return end - now > this.longestMs + queuedMs + this.inner.resetAfterMs(cells, at, now)
  }

  /** Removes turns that are over from the queue. Returns the units that are left. */
  #lapse(cells: Float64Array, at: number, now: number): number {
    const booked = this.#booked(cells, at, now)
    cells[at + this.first + NEXT] = Math.max(cells[at + this.first + NEXT], now - GRACE_MS)
    cells[at + this.first + BOOKED] = booked
    return booked
  }

  /** Returns the turns that a cost occupies, so that equal costs which do not divide the capacity fit one after another. */
  #turnsOf(cost: number): number {
    const units = this.capacity / Math.max(1, Math.floor(this.capacity / cost))
    // the pace allows for a weight of one unit, and a larger cost weighs more
    if (!this.isWeighted || units === this.capacity) return units
    return Math.max(units, (cost * (this.capacity - 1)) / (this.capacity - cost))
  }

  #wholeSeconds(ms: number): number {
    return Math.max(1, Math.ceil(ms / 1_000)) * 1_000
  }
}

/** Returns the milliseconds between units: all units that return up to `SPREAD_MS` after their turns are admitted. */
function paceMsOf(policy: Policy, capacity: number, isWeighted: boolean): number {
  const { limit, windowMs } = policy
  const perMs = drainPerMs(policy)
  if (perMs > 0) return Math.max(1 / perMs, (1 / perMs + SPREAD_MS) / capacity)
  const paceMs = (reachMs(policy) + SPREAD_MS) / limit
  return isWeighted && limit > 1 ? Math.min(paceMs, (windowMs + SPREAD_MS) / (limit - 1)) : paceMs
}

/** Whether the turns of a policy take noticeably longer than its units would. */
export function losesByTurns(policy: Policy): boolean {
  const isWeighted = policy.algorithm === 'sliding-window' && (policy.slices ?? 1) === 1
  const unitMs = policy.windowMs / policy.limit
  return policy.retry === 'booked' && paceMsOf(policy, capacityOf(policy), isWeighted) > 1.03 * unitMs
}
