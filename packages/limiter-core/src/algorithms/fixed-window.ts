import type { Algorithm, CompiledPolicy, Policy } from '../contracts.ts'
import { wholeMsUntil } from './whole-ms.ts'

/**
 * Cells: [start of the window, units used in the window]. A window starts at the key's first take after the previous
 * window has ended. Guarantee: at most twice the limit in any interval of the window's length (one limit just before
 * the end of a window and one just after).
 */
class CompiledFixedWindow implements CompiledPolicy {
  readonly policy: Policy
  readonly cells = 2
  readonly instants: readonly number[] = [0]
  readonly capacity: number
  readonly #windowMs: number

  constructor(policy: Policy) {
    this.policy = policy
    this.capacity = policy.limit
    this.#windowMs = policy.windowMs
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0 || this.#used(cells, at, now) + cost <= this.capacity) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    return wholeMsUntil(cells[at] + this.#windowMs, now)
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost === 0) return
    const used = this.#used(cells, at, now)
    if (used === 0) cells[at] = now
    cells[at + 1] = used + cost
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const used = this.#used(cells, at, now)
    if (units > 0 && used === 0 && this.#opensWindow(cells, at, now, takenAt)) {
      cells[at] = takenAt
      cells[at + 1] = units
      return units
    }
    if (used === 0 || takenAt < cells[at]) return 0
    const adjusted = Math.max(0, used + units)
    cells[at + 1] = adjusted
    return adjusted - used
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, this.capacity - this.#used(cells, at, now))
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return this.#used(cells, at, now) === 0 ? 0 : cells[at] + this.#windowMs - now
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    const live = used > 0 && resetAfterMs > 0
    cells[at] = live ? now + Math.min(resetAfterMs, this.#windowMs) - this.#windowMs : 0
    cells[at + 1] = live ? used : 0
  }

  #used(cells: Float64Array, at: number, now: number): number {
    return now >= cells[at] + this.#windowMs ? 0 : cells[at + 1]
  }

  // a take of cost 0 writes no cells, but a later charge to it belongs to the window that the take would have started
  #opensWindow(cells: Float64Array, at: number, now: number, takenAt: number): boolean {
    const afterLast = cells[at + 1] === 0 || takenAt >= cells[at] + this.#windowMs
    return afterLast && now < takenAt + this.#windowMs
  }
}

export const fixedWindow: Algorithm = {
  name: 'fixed-window',
  version: 1,
  compile: (policy) => new CompiledFixedWindow(policy),
}
