import { type Charge, type CountedKey, targetId } from '@sluice/limiter-core/backend'

/** The lease of one owner on one key. */
export interface BookedLease {
  /** Leased units that are not charged. */
  readonly units: number
  readonly endsAt: number
  /** `seq` of the last request. */
  readonly seq: number
  /** `base` of the last request. */
  readonly base: number
  /** Units charged since `base`. */
  readonly charged: number
  /** Units of an expired lease that were charged at its end, although the owner may not have spent them. */
  readonly settled: number
}

/** Milliseconds after the end of a lease during which its owner may still report the units that it spent. */
export const SETTLED_MS = 60_000

interface Leases {
  readonly charge: Charge
  readonly byOwner: Map<number, BookedLease>
}

/** All leases by key and owner. */
export class LeaseBook {
  readonly #leases = new Map<string, Leases>()
  readonly #charge: (charge: Charge, endedAt: number, now: number) => void

  /** `charge` is called with all units of a lease that has ended. */
  constructor(charge: (charge: Charge, endedAt: number, now: number) => void) {
    this.#charge = charge
  }

  /** Number of keys with a current lease, or one that ended within the last minute. */
  get size(): number {
    return this.#leases.size
  }

  of(target: CountedKey, owner: number): BookedLease | undefined {
    return this.#leases.get(targetId(target))?.byOwner.get(owner)
  }

  write(target: CountedKey, owner: number, lease: BookedLease): void {
    const id = targetId(target)
    const { key, counter } = target
    const leases = this.#leases.get(id) ?? { charge: { key, counter, cost: 0 }, byOwner: new Map() }
    this.#leases.set(id, leases)
    leases.byOwner.set(owner, lease)
  }

  /** Returns the units of a key in leases that end after `since`. */
  units(target: CountedKey, since: number = Number.NEGATIVE_INFINITY): number {
    if (this.#leases.size === 0) return 0
    let units = 0
    for (const lease of this.#leases.get(targetId(target))?.byOwner.values() ?? []) {
      if (lease.endsAt > since) units += lease.units
    }
    return units
  }

  /** Returns the time at which the first lease of a key ends; undefined if no units are leased. */
  firstEnd(target: CountedKey): number | undefined {
    const leases = this.#leases.get(targetId(target))
    const ends = [...(leases?.byOwner.values() ?? [])].flatMap(({ endsAt, units }) => (units > 0 ? [endsAt] : []))
    return ends.length > 0 ? Math.min(...ends) : undefined
  }

  /** Charges the leases of a key that have ended. */
  settle(target: CountedKey, now: number): void {
    if (this.#leases.size > 0) this.#settle(targetId(target), now)
  }

  /** Charges the leases of all keys that have ended, including leases whose owners no longer send requests. */
  settleAll(now: number): void {
    for (const id of this.#leases.keys()) this.#settle(id, now)
  }

  /** Charges the ended leases of a key in the order in which they ended. */
  #settle(id: string, now: number): void {
    const leases = this.#leases.get(id)
    if (!leases) return
    const ended = [...leases.byOwner].filter(([, lease]) => lease.endsAt <= now)
    ended.sort(([, a], [, b]) => a.endsAt - b.endsAt)
    for (const [owner, lease] of ended) {
      const { units, endsAt } = lease
      if (units > 0) {
        this.#charge({ ...leases.charge, cost: units }, endsAt, now)
        leases.byOwner.set(owner, { ...lease, units: 0, settled: units })
      }
      // kept for a minute, in which the owner may still correct the charge
      if (units + lease.settled + lease.charged === 0 || endsAt + SETTLED_MS <= now) leases.byOwner.delete(owner)
    }
    if (leases.byOwner.size === 0) this.#leases.delete(id)
  }
}
