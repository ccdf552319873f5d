import type { Cap } from '@sluice/limiter-core'

/** Weight of a new hold time in the moving average. */
const WEIGHT = 1 / 8

/** Moving average of the time for which this process holds permits, per cap. */
export class HoldTimes {
  readonly #means = new WeakMap<Cap, number>()

  /** Returns the average in ms; 0 if no permit has been released yet. */
  meanMs(cap: Cap): number {
    return this.#means.get(cap) ?? 0
  }

  add(cap: Cap, heldMs: number): void {
    const mean = this.#means.get(cap) ?? heldMs
    this.#means.set(cap, mean + (heldMs - mean) * WEIGHT)
  }
}
