import type { Algorithm, Policy } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { EPSILON_MS } from './epsilon-ms.ts'
import { UsagePolicy } from './usage-policy.ts'

const TAT = 0

/**
 * Cells: [theoretical arrival time (TAT) of the next unit]. One unit is due every T = window / limit. A take of q units
 * fits if max(now, TAT) + q * T is at most burst * T after now (ITU-T I.371, generic cell rate algorithm). `burst` is
 * the number of units that fit at once. Guarantee: at most burst + rate * W units in any interval of length W.
 */
class CompiledGcra extends UsagePolicy {
  readonly cells = 1
  override readonly instants: readonly number[] = [TAT]
  readonly #unitMs: number
  readonly #aheadMs: number

  constructor(policy: Policy) {
    super(policy, policy.burst ?? policy.limit)
    this.#unitMs = policy.windowMs / policy.limit
    this.#aheadMs = this.#unitMs * this.capacity
  }

  waitMs(cells: Float64Array, at: number, now: number, cost: number): number {
    if (cost === 0 || this.fits(cells, at, now, cost)) return 0
    if (cost > this.capacity) return Number.POSITIVE_INFINITY
    const guess = this.#debtMs(cells, at, now) + cost * this.#unitMs - this.#aheadMs - EPSILON_MS
    return this.firstFitMs(cells, at, now, cost, guess)
  }

  spend(cells: Float64Array, at: number, now: number, cost: number): void {
    if (cost > 0) cells[at + TAT] = Math.max(now, cells[at + TAT]) + cost * this.#unitMs
  }

  adjust(cells: Float64Array, at: number, now: number, units: number, takenAt: number): number {
    const debtMs = this.#debtMs(cells, at, now)
    // as in token-bucket, units that may have drained since the take are not refunded
    const drainedMs = Math.max(0, now - takenAt)
    const requestedMs = units * this.#unitMs
    const movedMs = units > 0 ? requestedMs : -Math.min(debtMs, Math.max(0, -requestedMs - drainedMs))
    if (movedMs === 0) return 0
    cells[at + TAT] = debtMs + movedMs === 0 ? 0 : now + debtMs + movedMs
    return units > 0 ? units : movedMs / this.#unitMs
  }

  remaining(cells: Float64Array, at: number, now: number): number {
    const freeMs = this.#aheadMs - this.#debtMs(cells, at, now) + EPSILON_MS
    let units = Math.max(0, Math.min(this.capacity, Math.floor(freeMs / this.#unitMs)))
    // the division may round to the wrong integer, and the result must agree with the comparison in `#fits`
    while (units > 0 && !this.fits(cells, at, now, units)) units--
    while (units < this.capacity && this.fits(cells, at, now, units + 1)) units++
    return units
  }

  resetAfterMs(cells: Float64Array, at: number, now: number): number {
    return this.#debtMs(cells, at, now)
  }

  adopt(cells: Float64Array, at: number, now: number, used: number, resetAfterMs: number): void {
    // as in token-bucket, the reset time of an exhausted key includes its debt
    const debtMs = used < this.capacity ? Math.min(used * this.#unitMs, resetAfterMs) : resetAfterMs
    cells[at + TAT] = debtMs > 0 ? now + debtMs : 0
  }

  #debtMs(cells: Float64Array, at: number, now: number): number {
    // 0 means an unused key, even if the clock returns negative times
    return cells[at + TAT] === 0 ? 0 : Math.max(0, cells[at + TAT] - now)
  }

  protected override fits(cells: Float64Array, at: number, now: number, cost: number): boolean {
    return this.#debtMs(cells, at, now) + cost * this.#unitMs <= this.#aheadMs + EPSILON_MS
  }
}

export const gcra: Algorithm = {
  name: 'gcra',
  version: 1,
  compile(policy) {
    if (policy.windowMs / policy.limit < 1) {
      throw new SluiceError(
        'SLUICE_BAD_POLICY',
        `policy '${policy.name}': limit: expected at most one unit per ms for gcra, ` +
          `received ${policy.limit} units in ${policy.windowMs} ms; use token-bucket`,
      )
    }
    return new CompiledGcra(policy)
  },
}
