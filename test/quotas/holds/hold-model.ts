import { DAY_MS } from './hold-fleet.ts'

/** Units that a hold of the model still holds, until its end. */
export interface ModelHold {
  units: number
  endsAt: number
}

export interface ModelTerms {
  /** Units included in each day of UTC. */
  readonly limit: number
  /** At most `limit`. */
  readonly carryOver: number
  readonly maxHoldMs: number
}

/** What holds, takes and settlements of one key mean, without leases, states and writes. */
export class HoldModel {
  readonly #terms: ModelTerms
  readonly #firstDay: number
  /** Units spent, by day. */
  readonly #spent = new Map<number, number>()
  holds: readonly ModelHold[] = []

  constructor(terms: ModelTerms, firstDay: number) {
    this.#terms = terms
    this.#firstDay = firstDay
  }

  held(now: number): number {
    return this.holds.reduce((sum, { units, endsAt }) => (endsAt > now ? sum + units : sum), 0)
  }

  free(now: number): number {
    return Math.max(0, this.#left(dayOf(now)) - this.held(now))
  }

  spent(day: number): number {
    return this.#spent.get(day) ?? 0
  }

  get allSpent(): number {
    return [...this.#spent.values()].reduce((sum, units) => sum + units, 0)
  }

  spend(units: number, now: number): void {
    this.#spent.set(dayOf(now), this.spent(dayOf(now)) + units)
  }

  /** Returns a new hold; undefined if the units do not fit. */
  hold(units: number, forMs: number, now: number): ModelHold | undefined {
    if (units > this.free(now)) return undefined
    const one = { units, endsAt: this.#endOf(forMs, now) }
    this.holds = [...this.holds, one]
    return one
  }

  /** Adds units to a hold and holds all of them longer. Returns whether they fit. */
  extend(one: ModelHold, units: number, forMs: number, now: number): boolean {
    const all = one.units + units
    const needed = one.endsAt > now ? units : all
    if (needed > this.free(now)) return false
    one.units = all
    one.endsAt = this.#endOf(forMs, now)
    return true
  }

  settle(one: ModelHold, units: number, now: number): void {
    this.holds = this.holds.filter((other) => other !== one)
    this.spend(units, now)
  }

  /** Holds end together at multiples of an eighth of the longest hold. */
  #endOf(forMs: number, now: number): number {
    const sliceMs = this.#terms.maxHoldMs / 8
    return (Math.floor((now + forMs) / sliceMs) + 1) * sliceMs
  }

  /** Included units of a day that are not spent; negative if more was spent. */
  #left(day: number): number {
    const { limit, carryOver } = this.#terms
    const carried = day > this.#firstDay ? Math.min(carryOver, Math.max(0, this.#left(day - 1))) : 0
    return limit + carried - this.spent(day)
  }
}

export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS)
}
