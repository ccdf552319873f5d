import type { Algorithm, Policy } from '../contracts.ts'
import { EPSILON_MS } from './epsilon-ms.ts'
import { UsagePolicy } from './usage-policy.ts'

const USED = 0
const TIME = 1

// the tolerance of 1 µs would be several units at millions of units per second
const MAX_EPSILON_UNITS = 0.5

/**
 * Cells: [units used, time at which this number was valid]. Used units drain at the rate limit / window; units above
 * `burst` are debt. Guarantee: at most burst + rate * W units in any interval of length W, except for late charges.
 */
class CompiledTokenBucket extends UsagePolicy {
  readonly cells = 2
  override readonly instants: readonly number[] = [TIME]
  readonly #perMs: number
  readonly #epsilon: number

  constructor(policy: Policy) {
    super(policy, policy.burst ?? policy.limit)
    this.#perMs = policy.limit / policy.windowMs
    this.#epsilon = Math.min(EPSILON_MS * this.#perMs, MAX_EPSILON_UNITS)
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0 || this.fits(cells, at, now, cost)) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    const guess = (this.#used(cells, at, now) + cost - this.capacity) / this.#perMs
    return this.firstFitMs(cells, at, now, cost, guess)
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost > 0) this.#write(cells, at, now, this.#used(cells, at, now) + cost)
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const used = this.#used(cells, at, now)
    // units that may have drained since the take are available again; refunding them too would exceed the guarantee
    const drained = Math.max(0, now - takenAt) * this.#perMs
    const moved = units > 0 ? units : -Math.min(used, Math.max(0, -units - drained))
    if (moved === 0) return 0
    this.#write(cells, at, now, used + moved)
    return moved
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    const free = this.capacity - this.#used(cells, at, now) + this.#epsilon
    let units = Math.max(0, Math.min(this.capacity, Math.floor(free)))
    // the sum may round to the wrong integer, and the result must agree with the comparison in `#fits`
    while (units > 0 && !this.fits(cells, at, now, units)) units--
    while (units < this.capacity && this.fits(cells, at, now, units + 1)) units++
    return units
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return this.#used(cells, at, now) / this.#perMs
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    const drainsFor = Math.max(0, resetAfterMs * this.#perMs)
    // an exhausted key may be in debt, which only `resetAfterMs` reveals
    this.#write(cells, at, now, used < this.capacity ? Math.max(0, Math.min(used, drainsFor)) : drainsFor)
  }

  #used(cells: Float64Array, at: number, now: number): number {
    return Math.max(0, cells[at + USED] - Math.max(0, now - cells[at + TIME]) * this.#perMs)
  }

  protected override fits(cells: Float64Array, at: number, now: number, cost: number): boolean {
    return this.#used(cells, at, now) + cost <= this.capacity + this.#epsilon
  }

  #write(cells: Float64Array, at: number, now: number, used: number): void {
    cells[at + USED] = used
    // if the clock went back, keep the later time: otherwise units would drain twice for the same time
    cells[at + TIME] = used === 0 ? 0 : Math.max(now, cells[at + TIME])
  }
}

export const tokenBucket: Algorithm = {
  name: 'token-bucket',
  version: 1,
  compile: (policy) => new CompiledTokenBucket(policy),
}
