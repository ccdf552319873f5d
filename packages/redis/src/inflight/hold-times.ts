import type { Cap } from '@sluice/limiter-core'

/** How much one hold counts beside those before it. */
const SHARE = 1 / 8

/** For how long this process holds places of each cap, on the average of the last ones. */
export class HoldTimes {
  readonly #means = new WeakMap<Cap, number>()

  /** 0 where none has been given back yet. */
  meanMs(cap: Cap): number {
    return this.#means.get(cap) ?? 0
  }

  add(cap: Cap, heldMs: number): void {
    const mean = this.#means.get(cap) ?? heldMs
    this.#means.set(cap, mean + (heldMs - mean) * SHARE)
  }
}
