import type { Algorithm, CompiledPolicy, Policy } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { wholeMsUntil } from './whole-ms.ts'

/**
 * A log of this length needs one kilobyte per key. For larger limits, `sliding-window` with slices gives the same
 * guarantee in less memory.
 */
export const LARGEST_LOG = 128
const HEAD = 1

/**
 * Cells: [number of timestamps, timestamps of the units from the oldest to the newest]. The number of timestamp cells
 * is a power of two, so that policies with different limits have few different sizes. Guarantee: exact, never more
 * than the limit in any window.
 */
class CompiledSlidingLog implements CompiledPolicy {
  readonly policy: Policy
  readonly cells: number
  readonly capacity: number
  readonly #windowMs: number
  readonly room: number
  readonly #chargedBeside: boolean

  /**
   * A log with `chargedBeside` stores one timestamp more than `room`. While that place is free, no timestamp was
   * dropped for lack of room.
   */
  constructor(policy: Policy, room: number, chargedBeside: boolean) {
    this.policy = policy
    this.capacity = policy.limit
    this.#windowMs = policy.windowMs
    this.room = chargedBeside ? room + 1 : room
    this.cells = HEAD + 2 ** Math.ceil(Math.log2(this.room))
    this.#chargedBeside = chargedBeside
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    const gone = this.#expired(cells, at, now)
    const tooMany = cells[at] - gone + cost - this.capacity
    if (cost === 0 || tooMany <= 0) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    return wholeMsUntil(this.#time(cells, at, gone + tooMany - 1) + this.#windowMs, now)
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost === 0) return
    const times = this.#live(cells, at, now)
    // keep the timestamps in order even if the clock went back
    const time = Math.max(now, times.at(-1) ?? now)
    const fitting = Math.min(cost, this.room)
    for (let unit = 0; unit < fitting; unit++) times.push(time)
    this.#write(cells, at, this.#newest(times))
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    if (takenAt + this.#windowMs <= now) return 0
    const times = this.#live(cells, at, now)
    const before = times.length
    const first = times.findIndex((time) => time >= takenAt)
    const place = first < 0 ? before : first
    if (units > 0) return this.#charge(cells, at, times, place, units, takenAt)
    // do not refund units that may have been dropped for lack of room
    if (this.#chargedBeside && before === this.room) return 0
    // a refund with `takenAt` now or later returns the newest units
    const isNow = first < 0 && takenAt >= now
    const same = isNow ? before : times.filter((time) => time === takenAt).length
    const back = Math.min(same, -units)
    times.splice(isNow ? before - back : place, back)
    this.#write(cells, at, times)
    return times.length - before
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, this.capacity - (cells[at] - this.#expired(cells, at, now)))
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    if (cells[at] === this.#expired(cells, at, now)) return 0
    return this.#time(cells, at, cells[at] - 1) + this.#windowMs - now
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    const live = resetAfterMs > 0 ? Math.min(Math.ceil(used), this.room) : 0
    const time = now + Math.min(resetAfterMs, this.#windowMs) - this.#windowMs
    this.#write(cells, at, new Array<number>(live).fill(time))
  }

  /** Inserts units at index `place` of the timestamps and returns the number of units that fit. */
  #charge(cells: Float64Array, at: number, times: number[], place: number, units: number, takenAt: number): number {
    const free = this.room - times.length
    // a log may have more timestamps than fit, from a policy with a larger limit
    const fitting = Math.max(0, Math.min(units, this.#chargedBeside ? free + place : free))
    times.splice(place, 0, ...new Array<number>(fitting).fill(takenAt))
    this.#write(cells, at, this.#newest(times))
    return fitting
  }

  /** Returns the newest timestamps, as many as fit. */
  #newest(times: number[]): number[] {
    if (times.length > this.room) times.splice(0, times.length - this.room)
    return times
  }

  #time(cells: Float64Array, at: number, index: number): number {
    return cells[at + HEAD + index]
  }

  #expired(cells: Float64Array, at: number, now: number): number {
    let gone = 0
    while (gone < cells[at] && this.#time(cells, at, gone) + this.#windowMs <= now) gone++
    return gone
  }

  #live(cells: Float64Array, at: number, now: number): number[] {
    const times: number[] = []
    for (let index = this.#expired(cells, at, now); index < cells[at]; index++) {
      times.push(this.#time(cells, at, index))
    }
    return times
  }

  #write(cells: Float64Array, at: number, times: readonly number[]): void {
    cells[at] = times.length
    cells.set(times, at + HEAD)
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
