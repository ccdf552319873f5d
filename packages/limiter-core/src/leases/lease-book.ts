import { targetId } from '../backend/target-id.ts'
import type { Charge, CountedKey } from '../contracts.ts'

/** The lease of one owner on one key. */
export interface BookedLease {
  readonly units: number
  readonly endsAt: number
  readonly seq: number
  readonly base: number
  /** Units charged since `base`. */
  readonly charged: number
  /** For an expired lease: units that were charged at its end, although the owner may not have spent them. */
  readonly settled: number
}

/** How long after the end of a lease its owner may still report what it spent. */
export const SETTLED_MS = 60_000

interface Leases {
  readonly charge: Charge
  readonly byOwner: Map<number, BookedLease>
}

/** All leases by key and owner. */
export class LeaseBook {
  readonly #leases = new Map<string, Leases>()
  readonly #charge: (charge: Charge, endedAt: number, now: number) => void

  /** `charge` charges a lease that has ended, whole. */
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

  /** Units of a key on leases that end after `since`. */
  units(target: CountedKey, since: number = Number.NEGATIVE_INFINITY): number {
    if (this.#leases.size === 0) return 0
    let units = 0
    for (const lease of this.#leases.get(targetId(target))?.byOwner.values() ?? []) {
      if (lease.endsAt > since) units += lease.units
    }
    return units
  }

  /** Returns when the first lease of a key ends; undefined if there is none. */
  firstEnd(target: CountedKey): number | undefined {
    const leases = this.#leases.get(targetId(target))
    const ends = [...(leases?.byOwner.values() ?? [])].flatMap(({ endsAt, units }) => (units > 0 ? [endsAt] : []))
    return ends.length > 0 ? Math.min(...ends) : undefined
  }

  /** Charges leases of a key that have ended. */
  settle(target: CountedKey, now: number): void {
    if (this.#leases.size > 0) this.#settle(targetId(target), now)
  }

  /** Charges all expired leases, including those that no owner reports. */
  settleAll(now: number): void {
    for (const id of this.#leases.keys()) this.#settle(id, now)
  }

  /** Settles the leases of a key in the order in which they end. */
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
      // the owner may still correct what was charged in its name
      if (units + lease.settled + lease.charged === 0 || endsAt + SETTLED_MS <= now) leases.byOwner.delete(owner)
    }
    if (leases.byOwner.size === 0) this.#leases.delete(id)
  }
}
