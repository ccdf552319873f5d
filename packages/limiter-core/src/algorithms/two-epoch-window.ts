import type { Policy, Step } from '../contracts.ts'
import { EPSILON_MS } from './epsilon-ms.ts'
import { firstWholeMs } from './whole-ms.ts'

/**
 * Cells: [start of the current epoch, units in it, units in the epoch before]. Epochs are one window long and follow
 * one another from the key's first take. Used units are estimated as previous * (1 - progress) + current; everything
 * is compared after multiplying by the window, so that whole units and whole ms give exact answers.
 * Promise: at most 2 limits in any window (1.999 at worst against an adversary), near 1 in ordinary traffic.
 */
export class TwoEpochStep implements Step {
  readonly policy: Policy
  readonly version = 1
  readonly cells = 3
  readonly capacity: number
  readonly #windowMs: number
  // the epochs as they stand at the `now` of the call: start, current, previous
  readonly #epochs = new Float64Array(3)

  constructor(policy: Policy) {
    this.policy = policy
    this.capacity = policy.limit
    this.#windowMs = policy.windowMs
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0 || this.#fits(cells, at, now, cost)) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    const room = this.capacity - cost
    const current = this.#epochs[1]
    const epochs = current <= room ? 1 - (room - current) / this.#epochs[2] : 2 - room / current
    const freeAt = this.#epochs[0] + this.#windowMs * epochs
    return firstWholeMs(freeAt - now, (ms) => this.#fits(cells, at, now + ms, cost))
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost === 0) return
    const epochs = this.#roll(cells, at, now)
    cells[at] = epochs[1] === 0 && epochs[2] === 0 ? now : epochs[0]
    cells[at + 1] = epochs[1] + cost
    cells[at + 2] = epochs[2]
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const epochs = this.#roll(cells, at, now)
    if (epochs[1] === 0 && epochs[2] === 0) {
      if (units < 0) return 0
      // nothing is counted, so the epochs follow from the take that is charged late
      epochs[0] = now < takenAt + this.#windowMs ? takenAt : takenAt + this.#windowMs
      if (now >= epochs[0] + this.#windowMs) return 0
    }
    if (takenAt < epochs[0] - this.#windowMs - EPSILON_MS) return 0
    const epoch = takenAt >= epochs[0] ? 1 : 2
    const adjusted = Math.max(0, epochs[epoch] + units)
    const moved = adjusted - epochs[epoch]
    epochs[epoch] = adjusted
    cells.set(epochs, at)
    return moved
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    const epochs = this.#roll(cells, at, now)
    const carriedOver = (epochs[2] * (this.#windowMs - this.#elapsed(now))) / this.#windowMs
    let units = Math.max(0, Math.floor(this.capacity - epochs[1] - carriedOver))
    // the division may round across a whole number; the comparison that decides is the one to agree with
    while (units > 0 && !this.#fitsRolled(now, units)) units--
    while (units < this.capacity && this.#fitsRolled(now, units + 1)) units++
    return units
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    const epochs = this.#roll(cells, at, now)
    if (epochs[1] > 0) return epochs[0] + 2 * this.#windowMs - now
    return epochs[2] > 0 ? epochs[0] + this.#windowMs - now : 0
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    const resetMs = Math.min(resetAfterMs, 2 * this.#windowMs)
    if (!(used > 0 && resetMs > 0)) {
      cells.fill(0, at, at + 3)
      return
    }
    const inCurrent = resetMs > this.#windowMs
    cells[at] = now + resetMs - (inCurrent ? 2 : 1) * this.#windowMs
    cells[at + 1] = inCurrent ? used : 0
    cells[at + 2] = inCurrent ? 0 : (used * this.#windowMs) / resetMs
  }

  #roll(cells: Float64Array, at: number, now: number): Float64Array {
    const epochs = this.#epochs
    const passedMs = now - cells[at]
    if (passedMs < this.#windowMs) {
      epochs[0] = cells[at]
      epochs[1] = cells[at + 1]
      epochs[2] = cells[at + 2]
    } else if (passedMs < 2 * this.#windowMs) {
      epochs[0] = cells[at] + this.#windowMs
      epochs[1] = 0
      epochs[2] = cells[at + 1]
    } else {
      epochs[0] = now
      epochs[1] = 0
      epochs[2] = 0
    }
    return epochs
  }

  #fits(cells: Float64Array, at: number, now: number, cost: number): boolean {
    this.#roll(cells, at, now)
    return this.#fitsRolled(now, cost)
  }

  #fitsRolled(now: number, cost: number): boolean {
    const epochs = this.#epochs
    const leftMs = this.#windowMs - this.#elapsed(now)
    return epochs[2] * leftMs + (epochs[1] + cost) * this.#windowMs <= this.capacity * this.#windowMs
  }

  #elapsed(now: number): number {
    return Math.max(0, now - this.#epochs[0])
  }
}
