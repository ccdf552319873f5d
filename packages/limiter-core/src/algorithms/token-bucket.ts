import type { Algorithm, Policy, Step } from '../contracts.ts'
import { firstWholeMs } from './whole-ms.ts'

/** 1 µs: what a sum of doubles may be off without turning away a request that is due. */
export const EPSILON_MS = 0.001

/**
 * Cells: [units used and not yet refilled, when that was so]. Used units drain at limit / window; above `burst` they
 * are debt. Promise: at most burst + rate * W units in any window of length W, late charges apart.
 */
class TokenBucketStep implements Step {
  readonly policy: Policy
  readonly version = 1
  readonly cells = 2
  readonly capacity: number
  readonly #perMs: number

  constructor(policy: Policy) {
    this.policy = policy
    this.capacity = policy.burst ?? policy.limit
    this.#perMs = policy.limit / policy.windowMs
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0 || this.#fits(cells, at, now, cost)) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    const guess = (this.#used(cells, at, now) + cost - this.capacity) / this.#perMs
    return firstWholeMs(guess, (ms) => this.#fits(cells, at, now + ms, cost))
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost > 0) this.#write(cells, at, now, this.#used(cells, at, now) + cost)
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const used = this.#used(cells, at, now)
    // what may have drained since belongs to others by now: giving it back would lift the key above its promise
    const drained = Math.max(0, now - takenAt) * this.#perMs
    const moved = units > 0 ? units : -Math.min(used, Math.max(0, -units - drained))
    if (moved === 0) return 0
    this.#write(cells, at, now, used + moved)
    return moved
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    let units = Math.max(0, Math.floor(this.capacity - this.#used(cells, at, now)))
    while (units < this.capacity && this.#fits(cells, at, now, units + 1)) units++
    return units
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return this.#used(cells, at, now) / this.#perMs
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    this.#write(cells, at, now, Math.max(0, Math.min(used, resetAfterMs * this.#perMs)))
  }

  #used(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, cells[at] - Math.max(0, now - cells[at + 1]) * this.#perMs)
  }

  #fits(cells: Float64Array, at: number, now: number, cost: number): boolean {
    return this.#used(cells, at, now) + cost <= this.capacity + EPSILON_MS * this.#perMs
  }

  #write(cells: Float64Array, at: number, now: number, used: number): void {
    cells[at] = used
    cells[at + 1] = used === 0 ? 0 : now
  }
}

export const tokenBucket: Algorithm = {
  name: 'token-bucket',
  version: 1,
  compile: (policy) => new TokenBucketStep(policy),
}
