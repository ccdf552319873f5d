import { formOf } from '../algorithms/policy-forms.ts'
import type { CompiledPolicy, HeldUnits, PriorUsage } from '../contracts.ts'
import { type LeaseAsk, type LeaseGrant, type LeaseTerms, leaseMsOf, TELLS } from './lease-ledger.ts'
import type { LeasedCounter, LeasedKey } from './leased-counter.ts'
import { LedgerView } from './ledger-view.ts'

/** A lease is refilled when this fraction of it is left. */
const LOW_WATER = 1 / 4
/** A burst may repeat at once. The last part of a lease must cover it until the refill arrives. */
const CROWDS = 1 / LOW_WATER

/** What waiting requests need from the ledger. */
export interface Demand {
  /** Units that all of them wait for. */
  readonly units: number
  readonly least: number
  readonly most: number
  readonly known: PriorUsage | undefined
}

/** The units that a process holds of one key, and its knowledge about the key. Times are process times. */
export class HeldLease {
  readonly key: string
  readonly counter: LeasedCounter
  readonly leaseMs: number
  /** A number that no other lease of any process has. */
  readonly owner: number
  /** When the next report is due. */
  dueAt: number
  /** Last reply of the ledger. */
  readonly view: LedgerView
  readonly #largest: number
  #left = 0
  #spent = 0
  // the part that a request has reported, acknowledged or not
  #telling = 0
  #endsAt = Number.NEGATIVE_INFINITY
  #filledAt = Number.NEGATIVE_INFINITY
  // units spent before this time have been reported, or were taken without a lease
  #reportedAt: number
  #base = 0
  // whether the ledger may hold units for this lease, as far as it has answered
  #isBooked = false
  #size = 0
  #recent = 0

  constructor({ key, counter }: LeasedKey, terms: LeaseTerms, owner: number, now: number) {
    const { compiled } = counter
    const leaseMs = leaseMsOf(compiled, terms)
    this.key = key
    this.counter = counter
    this.leaseMs = leaseMs
    this.owner = owner
    this.view = new LedgerView(compiled)
    this.#largest = Math.floor(compiled.capacity * terms.fraction)
    this.dueAt = now + leaseMs / TELLS
    this.#reportedAt = now
  }

  /** Whether another policy has the same guarantee, so that units leased under one may be spent under the other. */
  promisesAs({ capacity, policy }: CompiledPolicy): boolean {
    const { compiled } = this.counter
    const own = compiled.policy
    return compiled.capacity === capacity && own.limit === policy.limit && formOf(own) === formOf(policy)
  }

  /** Whether `cost` can be spent now. An expired lease allows nothing, whatever delayed this process. */
  fits(cost: number, now: number): boolean {
    return cost <= this.#left && !this.hasEnded(now)
  }

  /** Units that are leased and not yet spent. */
  held(now: number): HeldUnits | undefined {
    if (this.#left === 0 || this.hasEnded(now)) return undefined
    return { kind: 'lease', units: this.#left, endsAfterMs: Math.ceil(this.#endsAt - now) }
  }

  /** Whether nothing of the lease may be spent any longer. */
  hasEnded(now: number): boolean {
    return now >= this.#endsAt
  }

  /** Spends a cost that fits. */
  spend(cost: number): void {
    // a request that names a key twice checks each charge separately
    this.#left = Math.max(0, this.#left - cost)
    this.#spent += cost
    this.#recent += cost
  }

  /**
   * Moves units of a take made at `takenAt`: negative units return to the lease, positive ones are taken from it.
   * Returns false if the take has been reported to the ledger or the lease has expired; then the ledger must be
   * adjusted.
   */
  move(units: number, takenAt: number, now: number): boolean {
    if (takenAt < this.#reportedAt || now >= this.#endsAt) return false
    if (units > 0 ? units > this.#left : -units > this.#spent - this.#telling) return false
    this.#left -= units
    this.#spent += units
    return true
  }

  /** Whether to request more units before a request has to wait for them. */
  get isLow(): boolean {
    return this.#left <= this.#size * LOW_WATER && this.#size > 1
  }

  /** Whether it holds, owes and remembers nothing. */
  isIdle(now: number): boolean {
    return !this.owes && !this.view.remembers(now)
  }

  /** Whether something must be reported, even if only that nothing is held. */
  get owes(): boolean {
    return this.#left > 0 || this.#spent > 0 || this.#isBooked
  }

  /** Decides before a report which unspent units to return. */
  review(): void {
    if (this.#recent < this.#size / 4) this.#size = Math.floor(this.#size / 2)
    if (this.#recent === 0) this.#left = 0
    else this.#left = Math.min(this.#left, Math.max(1, this.#size))
    this.#recent = 0
  }

  /** Gives everything back. */
  release(): void {
    this.#left = 0
    this.#size = 0
  }

  /** Forgets what was spent, for a reset of the key. `seq` is a number that no request has used. */
  forget(seq: number): void {
    this.#left = 0
    this.#spent = 0
    this.#telling = 0
    this.#base = seq
    this.view.forget()
  }

  /** Returns the next request to the ledger. Without demand it only reports, unless `more` is set. */
  ask(seq: number, now: number, demand: Demand, more: boolean): LeaseAsk {
    if (now >= this.#endsAt) this.#left = 0
    const missing = (units: number): number => Math.max(0, units - this.#left)
    const waited = missing(demand.units)
    if (more) this.#grow(waited, now)
    const target = Math.max(0, this.#size - this.#left)
    const want = more ? waited + target : waited
    this.#reportedAt = now
    this.#telling = this.#spent
    this.dueAt = now + this.leaseMs / TELLS
    // its answer may be lost
    this.#isBooked ||= this.#left + want > 0
    return {
      key: this.key,
      counter: this.counter.exact,
      owner: this.owner,
      seq,
      base: this.#base,
      spent: this.#spent,
      keep: this.#left,
      want,
      demand: waited,
      minimum: Math.max(1, missing(demand.least)),
      need: missing(Math.min(this.view.mostThatFits(now), demand.most)),
      known: demand.known,
    }
  }

  /** Applies the grant for a request sent at `askedAt`. */
  granted(ask: LeaseAsk, grant: LeaseGrant, askedAt: number, now: number): void {
    // otherwise the key was reset in the meantime
    if (ask.base === this.#base) {
      this.#spent -= ask.spent
      this.#telling = 0
      this.#base = ask.seq
    }
    this.#left += grant.granted
    this.#isBooked = ask.keep + grant.granted > 0
    this.#endsAt = askedAt + Math.min(this.leaseMs, grant.leaseMs ?? this.leaseMs)
    if (grant.granted > 0) this.#filledAt = now
    this.view.update(grant, askedAt, now)
    // more is not to be had, and asking at a mark of this size would be asking all the time
    if (grant.granted < ask.want) this.#size = Math.min(this.#size, this.#left)
  }

  /** Whole units that fit, as far as is known. */
  remaining(now: number): number {
    const left = now < this.#endsAt ? this.#left : 0
    return Math.min(this.view.capacity, left + this.view.free)
  }

  /**
   * Doubles a lease that was used up within half of its time; a lease that was not refilled in between does not grow.
   */
  #grow(waited: number, now: number): void {
    if (now - this.#filledAt < this.leaseMs / 2) this.#size = Math.max(1, this.#size) * 2
    this.#size = Math.min(Math.max(this.#size, waited * CROWDS), this.#largest)
    this.#filledAt = Number.NEGATIVE_INFINITY
  }
}
