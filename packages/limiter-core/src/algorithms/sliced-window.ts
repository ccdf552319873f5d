import type { Policy } from '../contracts.ts'
import { EPSILON_MS } from './epsilon-ms.ts'
import { UsagePolicy } from './usage-policy.ts'

const START = 0

/**
 * Cells: [start of the newest slice, units of each slice from the newest to the oldest]. There is one slice more than
 * the window has, because the oldest slice is partly inside the window; it counts completely. Guarantee: never more
 * than the limit in any window; units become available again up to window / slices late.
 */
export class CompiledSlicedWindow extends UsagePolicy {
  readonly cells: number
  override readonly instants: readonly number[] = [START]
  /** Number of slices that are kept. */
  readonly #kept: number
  readonly #sliceMs: number

  constructor(policy: Policy, slices: number) {
    super(policy, policy.limit)
    this.#kept = slices + 1
    this.cells = slices + 2
    this.#sliceMs = policy.windowMs / slices
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    const passed = this.#passed(cells, at, now)
    let used = this.#sum(cells, at, passed)
    if (cost === 0 || used + cost <= this.capacity) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    // the oldest slice leaves the window first; sums above 2^53 are not exact and leave a remainder
    let slice = this.#kept - passed
    while (slice > 0 && used + cost > this.capacity) {
      used -= cells[at + slice]
      slice--
    }
    const freeAt = cells[at + START] + passed * this.#sliceMs + this.#sliceMs * (this.#kept - passed - slice)
    return this.firstFitMs(cells, at, now, cost, freeAt - now)
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost > 0) {
      const passed = this.#passed(cells, at, now)
      const isUnused = this.#sum(cells, at, passed) === 0
      this.#shift(cells, at, passed)
      if (isUnused) cells[at + START] = now
      cells[at + 1] += cost
    }
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const passed = this.#passed(cells, at, now)
    const isUnused = this.#sum(cells, at, passed) === 0
    if (isUnused && units < 0) return 0
    let start = cells[at + START] + passed * this.#sliceMs
    const then = Math.min(takenAt, Math.max(now, start))
    if (isUnused) start = then + Math.max(0, Math.floor((now - then) / this.#sliceMs)) * this.#sliceMs
    const age = 1 + Math.max(0, Math.ceil((start - then - EPSILON_MS) / this.#sliceMs))
    if (age > this.#kept) return 0
    this.#shift(cells, at, passed)
    cells[at + START] = start
    const before = cells[at + age]
    const adjusted = Math.max(0, before + units)
    cells[at + age] = adjusted
    return adjusted - before
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, this.capacity - this.#sum(cells, at, this.#passed(cells, at, now)))
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    const passed = this.#passed(cells, at, now)
    const last = this.#kept - passed
    let slice = 1
    while (slice <= last && cells[at + slice] === 0) slice++
    if (slice > last) return 0
    return cells[at + START] + passed * this.#sliceMs + this.#sliceMs * (last - slice + 1) - now
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    let slice = 0
    while (slice <= this.#kept) {
      cells[at + slice] = 0
      slice++
    }
    if (used > 0 && resetAfterMs > 0) {
      // store the units in the slice that leaves the window at the reset time
      const left = Math.min(this.#kept, Math.ceil(resetAfterMs / this.#sliceMs))
      cells[at + START] = now + Math.min(resetAfterMs, left * this.#sliceMs) - left * this.#sliceMs
      cells[at + (this.#kept - left + 1)] = used
    }
  }

  protected override fits(cells: Float64Array, at: number, now: number, cost: number): boolean {
    return this.#sum(cells, at, this.#passed(cells, at, now)) + cost <= this.capacity
  }

  /** Returns the number of slices that have started since the newest stored slice. */
  #passed(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, Math.floor((now - cells[at + START]) / this.#sliceMs))
  }

  /** Returns the units of the slices that are kept after `passed` further slices have started. */
  #sum(cells: Float64Array, at: number, passed: number): number {
    let sum = 0
    let slice = 1
    const last = this.#kept - passed
    while (slice <= last) {
      sum += cells[at + slice]
      slice++
    }
    return sum
  }

  /** Moves the cells forward by a number of slices. */
  #shift(cells: Float64Array, at: number, passed: number): void {
    if (passed > 0) {
      cells[at + START] += passed * this.#sliceMs
      let slice = this.#kept
      while (slice > 0) {
        cells[at + slice] = slice > passed ? cells[at + (slice - passed)] : 0
        slice--
      }
    }
  }
}
