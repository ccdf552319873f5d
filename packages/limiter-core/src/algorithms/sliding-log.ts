import type { Algorithm, Policy } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { UsagePolicy } from './usage-policy.ts'
import { wholeMsUntil } from './whole-ms.ts'

/** A log of this length needs one kilobyte per key. `sliding-window` with slices guarantees the same with less. */
export const LARGEST_LOG = 128

const COUNT = 0
/** Cell of the oldest timestamp. */
const TIMES = 1

/**
 * Cells: [number of timestamps, timestamps of the units from the oldest to the newest]. The number of timestamp cells
 * is a power of two, so that policies with different limits have few different sizes. Guarantee: exact, never more
 * than the limit in any window.
 */
class CompiledSlidingLog extends UsagePolicy {
  readonly cells: number
  readonly room: number
  /** 1 if other plans charge the same cells without checking this policy, otherwise 0. */
  readonly #beside: number

  /**
   * A log that is charged by other plans stores one timestamp more than `room`. While that place is free, no timestamp
   * was dropped for lack of room.
   */
  constructor(policy: Policy, room: number, chargedBeside: boolean) {
    super(policy, policy.limit)
    this.room = chargedBeside ? room + 1 : room
    this.cells = TIMES + 2 ** Math.ceil(Math.log2(this.room))
    this.#beside = chargedBeside ? 1 : 0
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    const expired = this.#expired(cells, at, now)
    const tooMany = cells[at + COUNT] - expired + cost - this.capacity
    if (cost === 0 || tooMany <= 0) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    return wholeMsUntil(cells[at + TIMES + (expired + tooMany - 1)] + this.windowMs, now)
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost > 0) {
      this.#remove(cells, at, 0, this.#expired(cells, at, now))
      let time = now
      const count = cells[at + COUNT]
      // keep the timestamps in order even if the clock went back
      if (count > 0) time = Math.max(now, cells[at + TIMES + (count - 1)])
      this.#insert(cells, at, count, Math.min(cost, this.room), time)
    }
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    if (takenAt + this.windowMs <= now) return 0
    this.#remove(cells, at, 0, this.#expired(cells, at, now))
    const before = cells[at + COUNT]
    let then = Math.min(takenAt, now)
    if (before > 0) then = Math.min(takenAt, Math.max(now, cells[at + TIMES + (before - 1)]))
    let first = 0
    while (first < before && cells[at + TIMES + first] < then) first++
    if (units > 0) {
      // a log may have more timestamps than fit, from a policy with a larger limit
      const free = this.room - before + (this.#beside === 1 ? first : 0)
      const fitting = Math.max(0, Math.min(units, free))
      this.#insert(cells, at, first, fitting, then)
      return fitting
    }
    // do not refund units that may have been dropped for lack of room
    if (this.#beside === 1 && before === this.room) return 0
    // a refund with `takenAt` now or later returns the newest units
    const isNow = first === before && then >= now
    if (isNow) first = Math.max(0, before + units)
    const last = isNow ? before : this.#lastOf(cells, at, first, -units, then)
    this.#remove(cells, at, first, last)
    return first - last
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, this.capacity - (cells[at + COUNT] - this.#expired(cells, at, now)))
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    const count = cells[at + COUNT]
    if (count === this.#expired(cells, at, now)) return 0
    return cells[at + TIMES + (count - 1)] + this.windowMs - now
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    const live = resetAfterMs > 0 ? Math.min(Math.ceil(used), this.room) : 0
    this.#remove(cells, at, 0, cells[at + COUNT])
    this.#insert(cells, at, 0, live, now + Math.min(resetAfterMs, this.windowMs) - this.windowMs)
  }

  /** Returns the number of timestamps that have left the window. */
  #expired(cells: Float64Array, at: number, now: number): number {
    let expired = 0
    while (expired < cells[at + COUNT] && cells[at + TIMES + expired] + this.windowMs <= now) expired++
    return expired
  }

  /** Returns the index behind the timestamps that equal `time`, from `first` on and at most `units` of them. */
  #lastOf(cells: Float64Array, at: number, first: number, units: number, time: number): number {
    let last = first
    while (last < cells[at + COUNT] && last - first < units && cells[at + TIMES + last] === time) last++
    return last
  }

  /** Removes the timestamps from index `first` to before index `last`. */
  #remove(cells: Float64Array, at: number, first: number, last: number): void {
    let from = last
    let to = first
    while (from < cells[at + COUNT]) {
      cells[at + TIMES + to] = cells[at + TIMES + from]
      from++
      to++
    }
    cells[at + COUNT] = to
  }

  /** Inserts `units` timestamps at index `place`. If there are more than fit then, the oldest ones are dropped. */
  #insert(cells: Float64Array, at: number, place: number, units: number, time: number): void {
    // all of them are in front of `place`
    const dropped = Math.max(0, cells[at + COUNT] + units - this.room)
    this.#remove(cells, at, 0, dropped)
    const first = place - dropped
    let index = cells[at + COUNT] - 1
    while (index >= first) {
      cells[at + TIMES + (index + units)] = cells[at + TIMES + index]
      index--
    }
    index = first
    while (index < first + units) {
      cells[at + TIMES + index] = time
      index++
    }
    cells[at + COUNT] += units
  }
}

export const slidingLog: Algorithm = {
  name: 'sliding-log',
  version: 1,
  compile(policy, largestLimit = policy.limit, chargedBeside = false) {
    if (largestLimit > LARGEST_LOG) {
      throw new SluiceError(
        'SLUICE_BAD_POLICY',
        `policy '${policy.name}': limit: expected at most ${LARGEST_LOG} for sliding-log ` +
          `(in all plans and overrides), received ${largestLimit}; use sliding-window with slices`,
      )
    }
    return new CompiledSlidingLog(policy, largestLimit, chargedBeside)
  },
}
