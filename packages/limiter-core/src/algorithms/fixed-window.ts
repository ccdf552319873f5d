import type { Algorithm } from '../contracts.ts'
import { UsagePolicy } from './usage-policy.ts'
import { wholeMsUntil } from './whole-ms.ts'

const START = 0
const USED = 1

/**
 * Cells: [start of the window, units used in the window]. A window starts at the key's first take after the previous
 * window has ended. Guarantee: at most twice the limit in any interval of the window's length (one limit just before
 * the end of a window and one just after).
 */
class CompiledFixedWindow extends UsagePolicy {
  readonly cells = 2
  override readonly instants: readonly number[] = [START]

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0 || this.#used(cells, at, now) + cost <= this.capacity) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    return wholeMsUntil(cells[at + START] + this.windowMs, now)
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost > 0) {
      const used = this.#used(cells, at, now)
      if (used === 0) cells[at + START] = now
      cells[at + USED] = used + cost
    }
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const used = this.#used(cells, at, now)
    const then = Math.min(takenAt, Math.max(now, cells[at + START]))
    if (units > 0 && used === 0 && this.#opensWindow(cells, at, now, then)) {
      cells[at + START] = then
      cells[at + USED] = units
      return units
    }
    if (used === 0 || then < cells[at + START]) return 0
    const adjusted = Math.max(0, used + units)
    cells[at + USED] = adjusted
    return adjusted - used
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, this.capacity - this.#used(cells, at, now))
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return this.#used(cells, at, now) === 0 ? 0 : cells[at + START] + this.windowMs - now
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    const live = used > 0 && resetAfterMs > 0
    cells[at + START] = live ? now + Math.min(resetAfterMs, this.windowMs) - this.windowMs : 0
    cells[at + USED] = live ? used : 0
  }

  #used(cells: Float64Array, at: number, now: number): number {
    return now >= cells[at + START] + this.windowMs ? 0 : cells[at + USED]
  }

  // a take of cost 0 writes no cells, but a later charge to it belongs to the window that the take would have started
  #opensWindow(cells: Float64Array, at: number, now: number, takenAt: number): boolean {
    return (cells[at + USED] === 0 || takenAt >= cells[at + START] + this.windowMs) && now < takenAt + this.windowMs
  }
}

export const fixedWindow: Algorithm = {
  name: 'fixed-window',
  version: 1,
  compile: (policy) => new CompiledFixedWindow(policy, policy.limit),
}
