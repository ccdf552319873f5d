import type { CompiledPolicy, Policy, PolicyBookings } from '../contracts.ts'
import { capacityOf, drainPerMs, reachMs } from './policy-forms.ts'
import { retentionMs } from './retention-ms.ts'
import { WrappedPolicy } from './wrapped-policy.ts'

/** `Retry-After` has whole seconds, so clients return up to a second after their turn, and 100 ms of latency later. */
const SPREAD_MS = 1_100
/** How long a turn is kept for a client that is late: a second of rounding, and a second of latency. */
const GRACE_MS = 2_000
/** Number of limits of a key that can be booked. */
const LONGEST_QUEUE = 10
/** Tolerance for rounding errors in sums of doubles. */
const ROUNDING_MS = 1

/**
 * A policy whose denied callers book a turn. Its cells are those of the policy, then [next turn, end of the queue,
 * units booked]: a virtual queue in which each unit follows the previous one after `paceMs`. The policy still judges
 * every take, so bookings never admit more than it does.
 *
 * Guarantee: the guarantee of the policy.
 */
export class BookingPolicy extends WrappedPolicy implements PolicyBookings {
  readonly instants: readonly number[] | undefined
  readonly paceMs: number
  readonly most: number
  readonly longestMs: number
  readonly isWeighted: boolean
  readonly bookings: PolicyBookings = this

  constructor(inner: CompiledPolicy) {
    super(inner, 3)
    this.instants = inner.instants && [...inner.instants, inner.cells, inner.cells + 1]
    this.isWeighted = inner.policy.algorithm === 'sliding-window' && (inner.policy.slices ?? 1) === 1
    this.paceMs = paceMsOf(inner.policy, inner.capacity, this.isWeighted)
    this.most = LONGEST_QUEUE * Math.max(inner.policy.limit, inner.capacity)
    this.longestMs = retentionMs(inner) + SPREAD_MS
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0 || cost > this.capacity) return this.inner.waitMs(cells, at, now, cost)
    const booked = this.#booked(cells, at, now)
    if (this.#fits(cells, at, now, cost, booked)) return 0
    return wholeSeconds(this.#turnMs(cells, at, now, cost, booked))
  }

  override spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost > 0) {
      const booked = this.#lapse(cells, at, now)
      if (booked > 0 && this.#isDue(cells, at, now)) {
        const units = this.#turnsOf(cost)
        cells[at + this.inner.cells] += units * this.paceMs
        cells[at + this.inner.cells + 2] = Math.max(0, booked - units)
      }
    }
    super.spend(cells, at, now, cost)
  }

  book(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost === 0 || cost > this.capacity) return
    const booked = this.#lapse(cells, at, now)
    const units = this.#turnsOf(cost)
    if (booked + units > this.most || this.#fits(cells, at, now, cost, booked)) return
    const turnMs = this.#turnMs(cells, at, now, cost, booked)
    const next = at + this.inner.cells
    // no other caller may have the first turn before its caller returns
    const turn = now + (booked === 0 ? wholeSeconds(turnMs) : turnMs)
    const end = turn + units * this.paceMs
    if (this.#isLeftOver(cells, at, now, end, booked + units)) return
    if (booked === 0) cells[next] = turn
    cells[next + 1] = end
    cells[next + 2] = booked + units
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    const left = this.inner.remaining(cells, at, now)
    const booked = this.#booked(cells, at, now)
    return booked === 0 || this.#isDue(cells, at, now) ? left : Math.max(0, left - Math.ceil(booked))
  }

  override keptMs(cells: Float64Array, at: number, now: number): number {
    return this.#keptMs(cells, at, now, cells[at + this.inner.cells + 1])
  }

  untilNextMs(cells: Float64Array, at: number, now: number): number {
    const next = at + this.inner.cells
    return this.#keptMs(cells, at, now, Math.min(Math.max(cells[next], now), cells[next + 1]))
  }

  /** Returns the milliseconds until the cells of the policy hold nothing, and turns before `end` are over. */
  #keptMs(cells: Float64Array, at: number, now: number, end: number): number {
    const usedMs = super.keptMs(cells, at, now)
    return this.#booked(cells, at, now) === 0 ? usedMs : Math.max(usedMs, end + GRACE_MS - now)
  }

  /** Whether a take fits: at a turn, or because the policy has room for it beside all booked units. */
  #fits(cells: Float64Array, at: number, now: number, cost: number, booked: number): boolean {
    const { inner, capacity } = this
    const mayTake = booked === 0 || this.#isDue(cells, at, now)
    if (mayTake && inner.waitMs(cells, at, now, cost) === 0) return true
    const needed = Math.ceil(booked) + cost
    return booked > 0 && needed <= capacity && inner.waitMs(cells, at, now, needed) === 0
  }

  /** Returns the milliseconds until the turn of a take that does not fit: behind the queue, and when there is room. */
  #turnMs(cells: Float64Array, at: number, now: number, cost: number, booked: number): number {
    const roomMs = this.inner.waitMs(cells, at, now, Math.min(this.capacity, Math.ceil(booked) + cost))
    return booked === 0 ? roomMs : Math.max(roomMs, cells[at + this.inner.cells + 1] - now)
  }

  #isDue(cells: Float64Array, at: number, now: number): boolean {
    return now >= cells[at + this.inner.cells] - ROUNDING_MS
  }

  /** Returns the units whose turns are not over. */
  #booked(cells: Float64Array, at: number, now: number): number {
    const next = at + this.inner.cells
    const booked = cells[next + 2]
    if (booked === 0) return 0
    const queuedMs = cells[next + 1] - Math.max(cells[next], now - GRACE_MS)
    // a turn may be shorter than the tolerance
    const isOver = queuedMs <= Math.min(ROUNDING_MS, this.paceMs / 2)
    if (isOver || this.#isLeftOver(cells, at, now, cells[next + 1], booked)) return 0
    return Math.min(booked, queuedMs / this.paceMs)
  }

  /** Whether a queue ends later than its units explain: the clock was set back, or the limit was raised. */
  #isLeftOver(cells: Float64Array, at: number, now: number, end: number, units: number): boolean {
    const queuedMs = Math.min(units, this.most) * this.paceMs
    return end - now > this.longestMs + queuedMs + this.inner.resetAfterMs(cells, at, now)
  }

  /** Removes turns that are over from the queue. Returns the units that are left. */
  #lapse(cells: Float64Array, at: number, now: number): number {
    const booked = this.#booked(cells, at, now)
    const next = at + this.inner.cells
    cells[next] = Math.max(cells[next], now - GRACE_MS)
    cells[next + 2] = booked
    return booked
  }

  /** Returns the turns that a cost occupies, so that equal costs which do not divide the capacity fit one after another. */
  #turnsOf(cost: number): number {
    const { capacity, isWeighted } = this
    const units = capacity / Math.max(1, Math.floor(capacity / cost))
    // the pace allows for a weight of one unit, and a larger cost weighs more
    return isWeighted && units < capacity ? Math.max(units, (cost * (capacity - 1)) / (capacity - cost)) : units
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

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000)) * 1_000
}
