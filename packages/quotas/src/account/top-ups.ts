import type { QuotaEntry } from '@sluice/counters/backend'
import type { TopUpState } from './quota-state.ts'

/**
 * Maximum number of spent or expired top-ups that are kept, so that a refund can return units to the top-ups they came
 * from. Expired top-ups accept no units; units drawn from them remain charged to them in their period, unless it has no
 * end.
 */
const MAX_ENDED = 32

export function topUpEntry(token: string, units: number): QuotaEntry {
  return { kind: 'top-up', token, ref: null, units, period: null }
}

/**
 * Units bought in addition to those a period includes. They are spent after the included units, the earliest to expire
 * first.
 */
export class TopUps {
  readonly #all: TopUpState[]

  constructor(all: TopUpState[]) {
    this.#all = all
  }

  /** Whether any top-up is known. */
  get any(): boolean {
    return this.#all.length > 0
  }

  /** Returns the units that can be spent at `now`. */
  left(now: number): number {
    return this.#live(now).reduce((sum, { left }) => sum + left, 0)
  }

  add(topUp: TopUpState, now: number): void {
    this.#all.push(topUp)
    const ended = this.#all.filter(({ left, endsAt }) => left === 0 || (endsAt !== null && endsAt <= now))
    for (const one of ended.slice(0, -MAX_ENDED)) this.#all.splice(this.#all.indexOf(one), 1)
  }

  /** Spends up to `units` and returns the number spent. */
  draw(units: number, now: number): number {
    let drawn = 0
    for (const topUp of this.#live(now)) {
      const part = Math.min(topUp.left, units - drawn)
      topUp.left -= part
      drawn += part
    }
    return drawn
  }

  /** Returns units to the top-ups drawn from last. Returns the number of units that were accepted. */
  giveBack(units: number, now: number): number {
    let back = 0
    for (const topUp of this.#live(now).reverse()) {
      const part = Math.min(topUp.units - topUp.left, units - back)
      topUp.left += part
      back += part
    }
    return back
  }

  /** Returns top-ups that have not expired, ordered by expiry, then by purchase. */
  #live(now: number): TopUpState[] {
    const live = this.#all.filter(({ endsAt }) => endsAt === null || endsAt > now)
    return live.sort((one, other) => (one.endsAt ?? Infinity) - (other.endsAt ?? Infinity) || 0)
  }
}
