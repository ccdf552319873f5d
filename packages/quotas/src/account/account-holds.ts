import type { Held } from '@sluice/limiter-core/backend'
import type { HoldState } from './quota-state.ts'

/**
 * Units of an account that are held for work whose cost is not known yet. They belong to no period, and are free again
 * at their end without a write. Holds that end together are one entry, so an account has at most one entry for each
 * slice of the longest hold; see `PolicyHolds`.
 */
export class AccountHolds {
  /** Ordered by end. */
  readonly #all: HoldState[]

  constructor(all: HoldState[]) {
    this.#all = all
  }

  /** Returns the units that are held until after `at`. */
  unitsAt(at: number): number {
    return this.#all.reduce((sum, { units, endsAt }) => (endsAt > at ? sum + units : sum), 0)
  }

  /** Returns the instants after `at` at which held units return, in ascending order. */
  endsAfter(at: number): readonly number[] {
    return this.#all.filter(({ endsAt }) => endsAt > at).map(({ endsAt }) => endsAt)
  }

  /** Returns how many units of an earlier hold are still held. */
  heldOf({ units, endsAt }: Held, now: number): number {
    const found = this.#from(endsAt, now).reduce((sum, one) => sum + one.units, 0)
    return Math.min(units, found)
  }

  /** Holds units. The caller has checked that they fit. */
  hold({ units, endsAt }: Held, now: number): void {
    this.#removeEnded(now)
    if (units === 0) return
    const same = this.#all.find((one) => one.endsAt === endsAt)
    if (same) same.units += units
    else this.#all.push({ endsAt, units })
    this.#all.sort((one, other) => one.endsAt - other.endsAt)
  }

  /** Returns held units. Units whose time has passed have returned already. */
  release(held: Held, now: number): void {
    let left = this.heldOf(held, now)
    for (const one of this.#from(held.endsAt, now)) {
      const released = Math.min(left, one.units)
      one.units -= released
      left -= released
    }
    this.#removeEnded(now)
  }

  clear(): void {
    this.#all.length = 0
  }

  /**
   * Returns the entries in which units of a hold are looked for: its own, and later ones, because an extension that was
   * undone leaves the units until the later time.
   */
  #from(endsAt: number, now: number): readonly HoldState[] {
    return endsAt <= now ? [] : this.#all.filter((one) => one.endsAt >= endsAt)
  }

  #removeEnded(now: number): void {
    const kept = this.#all.filter(({ units, endsAt }) => units > 0 && endsAt > now)
    this.#all.splice(0, this.#all.length, ...kept)
  }
}
