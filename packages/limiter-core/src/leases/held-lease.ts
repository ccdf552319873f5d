import { formOf } from '../algorithms/policy-forms.ts'
import type { CompiledPolicy, HeldUnits, PriorUsage } from '../contracts.ts'
import { type LeaseAsk, type LeaseGrant, type LeaseTerms, leaseMsOf, TELLS } from './lease-ledger.ts'
import type { LeasedCounter, LeasedKey } from './leased-counter.ts'
import { LedgerView } from './ledger-view.ts'

/** A lease is asked for anew when this part of it is left. */
const LOW_WATER = 1 / 4
/** Whoever waits at once may come at once again: so many are the last part of a lease, and find it filled. */
const CROWDS = 1 / LOW_WATER

/** What requests that wait for an ask need. */
export interface Demand {
  /** Units that all of them wait for. */
  readonly units: number
  readonly least: number
  readonly most: number
  readonly known: PriorUsage | undefined
}

/** What a process holds of one key, and what it knows of it. Times are of the process clock. */
export class HeldLease {
  readonly key: string
  readonly counter: LeasedCounter
  readonly leaseMs: number
  /** A number that no other lease of any process has. */
  readonly owner: number
  /** When it is next told what was spent. */
  dueAt: number
  /** What the ledger said last. */
  readonly view: LedgerView
  readonly #largest: number
  #left = 0
  #spent = 0
  // what of it an ask has told, answered or not
  #telling = 0
  #endsAt = Number.NEGATIVE_INFINITY
  #filledAt = Number.NEGATIVE_INFINITY
  // what was spent before this instant has been told, or was taken without a lease
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

  /** Whether this policy makes the same promise, so that what was leased under the one may be spent under the other. */
  promisesAs({ capacity, policy }: CompiledPolicy): boolean {
    const { compiled } = this.counter
    const own = compiled.policy
    return compiled.capacity === capacity && own.limit === policy.limit && formOf(own) === formOf(policy)
  }

  /** Whether `cost` can be spent right now. Nothing is, once the lease has ended, whatever kept this process from it. */
  fits(cost: number, now: number): boolean {
    return cost <= this.#left && !this.hasEnded(now)
  }

  /** Units that are leased and not yet spent. */
  held(now: number): HeldUnits | undefined {
    if (this.#left === 0 || this.hasEnded(now)) return undefined
    return { kind: 'lease', units: this.#left, endsAfterMs: Math.ceil(this.#endsAt - now) }
  }

  /** Whether nothing of it may be spent any more. */
  hasEnded(now: number): boolean {
    return now >= this.#endsAt
  }

  /** Spends what fits. */
  spend(cost: number): void {
    // a request that names a key twice was asked whether each of both fits
    this.#left = Math.max(0, this.#left - cost)
    this.#spent += cost
    this.#recent += cost
  }

  /**
   * Moves units of a take made at `takenAt`: negative ones back to the lease, others from it. False where the take has
   * been told to the ledger, or the lease has ended: then it is the ledger's to do.
   */
  move(units: number, takenAt: number, now: number): boolean {
    if (takenAt < this.#reportedAt || now >= this.#endsAt) return false
    if (units > 0 ? units > this.#left : -units > this.#spent - this.#telling) return false
    this.#left -= units
    this.#spent += units
    return true
  }

  /** Whether it is time to ask for more, before anybody has to wait for it. */
  get isLow(): boolean {
    return this.#left <= this.#size * LOW_WATER && this.#size > 1
  }

  /** Neither holds, owes nor remembers anything. */
  isIdle(now: number): boolean {
    return !this.owes && !this.view.remembers(now)
  }

  /** Something is to be told, be it that nothing is held any more. */
  get owes(): boolean {
    return this.#left > 0 || this.#spent > 0 || this.#isBooked
  }

  /** Before it is told what was spent: what is not needed comes back. */
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

  /** Forgets what was spent, as a reset of the key does. `seq` is one that no ask had. */
  forget(seq: number): void {
    this.#left = 0
    this.#spent = 0
    this.#telling = 0
    this.#base = seq
    this.view.forget()
  }

  /** What to ask the ledger now. Where nobody demands anything it only tells, unless `more` is wanted. */
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

  /** The ledger granted what was asked at `askedAt`. */
  granted(ask: LeaseAsk, grant: LeaseGrant, askedAt: number, now: number): void {
    // else the key was reset meanwhile
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

  /** A lease that did not last for half of its time was too small. One that was not filled since is no larger for it. */
  #grow(waited: number, now: number): void {
    if (now - this.#filledAt < this.leaseMs / 2) this.#size = Math.max(1, this.#size) * 2
    this.#size = Math.min(Math.max(this.#size, waited * CROWDS), this.#largest)
    this.#filledAt = Number.NEGATIVE_INFINITY
  }
}
