import type { QuotaEntry } from '../ledger/quota-table.ts'
import type { TopUpState } from './quota-state.ts'

/**
 * Top-ups of which nothing may be spent any more, since all is spent or they have ended, are kept until there are so many:
 * a refund finds where its units came from. Those that have ended give nothing, and what they gave stays in its period.
 */
const MOST_OVER = 32

export function topUpEntry(token: string, units: number): QuotaEntry {
  return { kind: 'top-up', token, ref: null, units, period: null }
}

/** Units that were bought beside what a period includes: spent after that, those first that end first. */
export class TopUps {
  readonly #all: TopUpState[]

  constructor(all: TopUpState[]) {
    this.#all = all
  }

  /** Whether any was ever bought, as far as is remembered. */
  get any(): boolean {
    return this.#all.length > 0
  }

  /** Units that may be spent at `now`. */
  left(now: number): number {
    return this.#live(now).reduce((sum, { left }) => sum + left, 0)
  }

  add(topUp: TopUpState, now: number): void {
    this.#all.push(topUp)
    const over = this.#all.filter(({ left, endsAt }) => left === 0 || (endsAt !== null && endsAt <= now))
    for (const one of over.slice(0, -MOST_OVER)) this.#all.splice(this.#all.indexOf(one), 1)
  }

  /** Spends as many units as are left, at most `units`; answers how many. */
  draw(units: number, now: number): number {
    let drawn = 0
    for (const topUp of this.#live(now)) {
      const part = Math.min(topUp.left, units - drawn)
      topUp.left -= part
      drawn += part
    }
    return drawn
  }

  /** Gives units back to those that were drawn last; answers how many found their place. */
  giveBack(units: number, now: number): number {
    let back = 0
    for (const topUp of this.#live(now).reverse()) {
      const part = Math.min(topUp.units - topUp.left, units - back)
      topUp.left += part
      back += part
    }
    return back
  }

  /** By their end; of one end in the order in which they were bought. */
  #live(now: number): TopUpState[] {
    const live = this.#all.filter(({ endsAt }) => endsAt === null || endsAt > now)
    return live.sort((one, other) => (one.endsAt ?? Infinity) - (other.endsAt ?? Infinity) || 0)
  }
}
