import type { CompiledPolicy, Policy } from '../contracts.ts'
import { EPSILON_MS } from './epsilon-ms.ts'
import { firstWholeMs } from './whole-ms.ts'

/**
 * Cells: [start of the newest slice, units of each slice from the newest to the oldest]. There is one slice more than
 * the window has, because the oldest slice is partly inside the window; it counts completely. Guarantee: never more
 * than the limit in any window; units become available again up to window / slices late.
 */
export class CompiledSlicedWindow implements CompiledPolicy {
  readonly policy: Policy
  readonly cells: number
  readonly instants: readonly number[] = [0]
  readonly capacity: number
  readonly #kept: number
  readonly #sliceMs: number
  // the state at the `now` of the call, with the same layout as the cells
  readonly #slices: Float64Array

  constructor(policy: Policy, slices: number) {
    this.policy = policy
    this.capacity = policy.limit
    this.#kept = slices + 1
    this.cells = this.#kept + 1
    this.#sliceMs = policy.windowMs / slices
    this.#slices = new Float64Array(this.cells)
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    const slices = this.#roll(cells, at, now)
    let used = this.#sum()
    if (cost === 0 || used + cost <= this.capacity) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    let age = this.#kept
    // `age > 0` ends the loop if rounding leaves a remainder: sums above 2^53 are not exact
    while (age > 0 && used + cost > this.capacity) used -= slices[age--]
    const freeAt = slices[0] + this.#sliceMs * (this.#kept - age)
    return firstWholeMs(freeAt - now, (ms) => this.#usedAt(cells, at, now + ms) + cost <= this.capacity)
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost === 0) return
    const slices = this.#roll(cells, at, now)
    if (this.#sum() === 0) slices[0] = now
    slices[1] += cost
    cells.set(slices, at)
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const slices = this.#roll(cells, at, now)
    if (this.#sum() === 0) {
      if (units < 0) return 0
      const passed = Math.max(0, Math.floor((now - takenAt) / this.#sliceMs))
      slices[0] = takenAt + passed * this.#sliceMs
    }
    const age = 1 + Math.max(0, Math.ceil((slices[0] - takenAt - EPSILON_MS) / this.#sliceMs))
    if (age > this.#kept) return 0
    const adjusted = Math.max(0, slices[age] + units)
    const moved = adjusted - slices[age]
    slices[age] = adjusted
    cells.set(slices, at)
    return moved
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, this.capacity - this.#usedAt(cells, at, now))
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    const slices = this.#roll(cells, at, now)
    for (let age = 1; age <= this.#kept; age++) {
      if (slices[age] > 0) return slices[0] + this.#sliceMs * (this.#kept - age + 1) - now
    }
    return 0
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    cells.fill(0, at, at + this.cells)
    if (!(used > 0 && resetAfterMs > 0)) return
    // store the units in the slice that leaves the window at the reset time
    const slicesLeft = Math.min(this.#kept, Math.ceil(resetAfterMs / this.#sliceMs))
    cells[at] = now + Math.min(resetAfterMs, slicesLeft * this.#sliceMs) - slicesLeft * this.#sliceMs
    cells[at + this.#kept - slicesLeft + 1] = used
  }

  #roll(cells: Float64Array, at: number, now: number): Float64Array {
    const slices = this.#slices
    const passed = Math.max(0, Math.floor((now - cells[at]) / this.#sliceMs))
    slices[0] = cells[at] + passed * this.#sliceMs
    for (let age = this.#kept; age > 0; age--) slices[age] = age > passed ? cells[at + age - passed] : 0
    return slices
  }

  #usedAt(cells: Float64Array, at: number, now: number): number {
    this.#roll(cells, at, now)
    return this.#sum()
  }

  #sum(): number {
    let sum = 0
    for (let age = 1; age <= this.#kept; age++) sum += this.#slices[age]
    return sum
  }
}
