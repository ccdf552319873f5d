import { type CompiledPolicy, formOf, type HeldUnits, type PriorUsage } from '@sluice/limiter-core/backend'
import { type LeaseGrant, type LeaseRequest, type LeaseTerms, leaseMsOf, REPORTS_PER_LEASE } from './lease-ledger.ts'
import type { LeasedCounter, LeasedKey } from './leased-counter.ts'
import { LedgerView } from './ledger-view.ts'

/** Fraction of a lease at which it is refilled. */
const LOW_WATER = 1 / 4
/** Minimum size of a lease in bursts: the last `LOW_WATER` of it must cover another burst until the refill arrives. */
const BURSTS_PER_LEASE = 1 / LOW_WATER

/** The units that waiting requests need from the ledger. */
export interface Demand {
  /** Sum of the costs of all waiting requests. */
  readonly units: number
  /** Smallest cost. */
  readonly least: number
  /** Largest cost. */
  readonly most: number
  readonly known: PriorUsage | undefined
}

/** Units of one key that a process holds, and the last reply of the ledger about the key. Times are process times. */
export class HeldLease {
  readonly key: string
  readonly counter: LeasedCounter
  readonly leaseMs: number
  /** Unique number of the lease in all processes. */
  readonly owner: number
  /** Time at which the next report is due. */
  dueAt: number
  /** Last reply of the ledger. */
  readonly view: LedgerView
  /** Maximum of `#size`, and of the units held while no request waits for more. */
  readonly #maxSize: number
  #left = 0
  #spent = 0
  /** Spent units that a pending request reports. */
  #reporting = 0
  #endsAt = Number.NEGATIVE_INFINITY
  #filledAt = Number.NEGATIVE_INFINITY
  /** Units taken before this time have been reported, or were taken without a lease. */
  #reportedAt: number
  #base = 0
  /** Whether the ledger may hold units for this lease. */
  #isBooked = false
  /** Number of units up to which the lease is filled. */
  #size = 0
  /** Units spent since the last review. */
  #recent = 0

  constructor({ key, counter }: LeasedKey, terms: LeaseTerms, owner: number, now: number) {
    const { compiled } = counter
    const leaseMs = leaseMsOf(compiled, terms)
    this.key = key
    this.counter = counter
    this.leaseMs = leaseMs
    this.owner = owner
    this.view = new LedgerView(compiled)
    this.#maxSize = Math.max(1, Math.floor(compiled.capacity * (terms.heldFraction ?? terms.fraction)))
    this.dueAt = now + leaseMs / REPORTS_PER_LEASE
    this.#reportedAt = now
  }

  /** Whether another policy has the same limit, so that units leased under one policy may be spent under the other. */
  hasSameLimitAs({ capacity, policy }: CompiledPolicy): boolean {
    const { compiled } = this.counter
    const own = compiled.policy
    return compiled.capacity === capacity && own.limit === policy.limit && formOf(own) === formOf(policy)
  }

  /** Whether `cost` can be spent now. An expired lease allows nothing, even if this process was only delayed. */
  fits(cost: number, now: number): boolean {
    return cost <= this.#left && !this.hasEnded(now)
  }

  /** Returns the units that are leased and not spent; undefined if there are none. */
  held(now: number): HeldUnits | undefined {
    if (this.#left === 0 || this.hasEnded(now)) return undefined
    return { kind: 'lease', units: this.#left, endsAfterMs: Math.ceil(this.#endsAt - now) }
  }

  /** Returns the units that all processes have spent, as last reported, and the units of this process since then. */
  spentUnits(now: number): number {
    return (this.view.known(now)?.used ?? 0) + this.#spent
  }

  /** Whether the lease has expired. */
  hasEnded(now: number): boolean {
    return now >= this.#endsAt
  }

  /** Spends a cost for which `fits` returned true. */
  spend(cost: number): void {
    // not below 0: if a request has two charges of the same key, each was checked separately
    this.#left = Math.max(0, this.#left - cost)
    this.#spent += cost
    this.#recent += cost
  }

  /**
   * Adjusts a take made at `takenAt`: negative units return to the lease, positive ones are taken from it. Returns
   * false if the ledger must be adjusted instead, because the take has been reported, or the lease has expired or has
   * too few units.
   */
  move(units: number, takenAt: number, now: number): boolean {
    if (takenAt < this.#reportedAt || now >= this.#endsAt) return false
    if (units > 0 ? units > this.#left : -units > this.#spent - this.#reporting) return false
    this.#left -= units
    this.#spent += units
    return true
  }

  /** Whether to request more units now, before a request has to wait for them. */
  get isLow(): boolean {
    return this.#left <= this.#size * LOW_WATER && this.#size > 1
  }

  /** Whether it holds more units than a crash of this process may cost, because of refunds or of late requests. */
  get isOverfull(): boolean {
    return this.#left > this.#maxSize
  }

  /** Whether the lease holds no units, has nothing to report and remembers no denial. */
  isIdle(now: number): boolean {
    return !this.mustReport && !this.view.remembers(now)
  }

  /** Whether a report is necessary, even if it only reports that no units are held. */
  get mustReport(): boolean {
    return this.#left > 0 || this.#spent > 0 || this.#isBooked
  }

  /** Returns unspent units before a report: all if none was spent recently, otherwise the units above the new size. */
  review(): void {
    if (this.#recent < this.#size / 4) this.#size = Math.floor(this.#size / 2)
    if (this.#recent === 0) this.#left = 0
    else this.#left = Math.min(this.#left, Math.max(1, this.#size))
    this.#recent = 0
  }

  /** Returns all unspent units with the next report. */
  release(): void {
    this.#left = 0
    this.#size = 0
  }

  /** Discards spent and unspent units after a reset of the key. `seq` must be a sequence number that is not in use. */
  forget(seq: number): void {
    this.#left = 0
    this.#spent = 0
    this.#reporting = 0
    this.#base = seq
    this.view.forget()
  }

  /** Returns the next request to the ledger. Without demand it only reports, unless `more` refills the lease. */
  nextRequest(seq: number, now: number, demand: Demand, more: boolean): LeaseRequest {
    if (now >= this.#endsAt) this.#left = 0
    this.#left = Math.min(this.#left, Math.max(this.#maxSize, demand.units))
    const missing = (units: number): number => Math.max(0, units - this.#left)
    const needed = missing(demand.units)
    if (more) this.#grow(needed, now)
    const refill = Math.max(0, this.#size - this.#left)
    const want = more ? needed + refill : needed
    this.#reportedAt = now
    this.#reporting = this.#spent
    this.dueAt = now + this.leaseMs / REPORTS_PER_LEASE
    // set before the reply, which may be lost
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
      demand: needed,
      minimum: Math.max(1, missing(demand.least)),
      need: missing(Math.min(this.view.maxCost(now), demand.most)),
      known: demand.known,
    }
  }

  /** Applies the grant for a request sent at `requestedAt`. */
  granted(ask: LeaseRequest, grant: LeaseGrant, requestedAt: number, now: number): void {
    // unless the key was reset in the meantime
    if (ask.base === this.#base) {
      this.#spent -= ask.spent
      this.#reporting = 0
      this.#base = ask.seq
    }
    this.#left += grant.granted
    this.#isBooked = ask.keep + grant.granted > 0
    this.#endsAt = requestedAt + Math.min(this.leaseMs, grant.leaseMs ?? this.leaseMs)
    if (grant.granted > 0) this.#filledAt = now
    this.view.update(grant, requestedAt, now)
    // the ledger has no more units; with a larger size the lease would always be low and request more all the time
    if (grant.granted < ask.want) this.#size = Math.min(this.#size, this.#left)
  }

  /** Returns the units that are known to fit: the unspent units plus the units that were free at the last reply. */
  remaining(now: number): number {
    const left = now < this.#endsAt ? this.#left : 0
    return Math.min(this.view.capacity, left + this.view.free)
  }

  /**
   * Doubles the size of a lease that was used up within half of its duration, once per refill. The size is at least
   * `BURSTS_PER_LEASE` times the units that requests wait for, and at most `#maxSize`.
   */
  #grow(needed: number, now: number): void {
    if (now - this.#filledAt < this.leaseMs / 2) this.#size = Math.max(1, this.#size) * 2
    this.#size = Math.min(Math.max(this.#size, needed * BURSTS_PER_LEASE), this.#maxSize)
    this.#filledAt = Number.NEGATIVE_INFINITY
  }
}
