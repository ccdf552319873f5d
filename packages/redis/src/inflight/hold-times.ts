import type { Cap } from '@sluice/limiter-core'

/** Weight of one hold time in the moving average. */
const SHARE = 1 / 8

/** Moving average of how long this process holds places, per cap. */
export class HoldTimes {
  readonly #means = new WeakMap<Cap, number>()

  /** Returns 0 if none has been released yet. */
  meanMs(cap: Cap): number {
    return this.#means.get(cap) ?? 0
  }

  add(cap: Cap, heldMs: number): void {
    const mean = this.#means.get(cap) ?? heldMs
    this.#means.set(cap, mean + (heldMs - mean) * SHARE)
  }
}
