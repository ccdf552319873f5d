import type { Charge, Moment, SoleDecision } from '@sluice/limiter-core/backend'
import { type LeaseTerms, leaseMsOf, REPORTS_PER_LEASE } from './lease-ledger.ts'
import { RecentUses } from './recent-uses.ts'

/**
 * Takes one enforced charge of a key without a lease and charges it immediately. If an owner has leased units of the
 * key, nothing is taken and the promise rejects with an error whose code is `LEASED`.
 */
export type TakeUnleased = (charge: Charge, deadlineAt: number) => Promise<SoleDecision>
const LEASED = 'LEASED'

/**
 * Takes of keys that are used too rarely to be leased. A key is leased once it is used again before a lease would have
 * been reported; until then, a lease would cost two calls to the ledger instead of one.
 */
export class UnleasedTakes {
  readonly #take: TakeUnleased
  readonly #terms: LeaseTerms
  readonly #recent: RecentUses = new RecentUses()

  constructor(take: TakeUnleased, terms: LeaseTerms) {
    this.#take = take
    this.#terms = terms
  }

  /** Whether a key without a lease should be charged directly. Records the use of the key. */
  shouldChargeDirectly(charge: Charge, now: number): boolean {
    // the ledger must receive the usage that the caller knows
    return (
      !charge.known &&
      !this.#recent.note(charge, leaseMsOf(charge.counter.compiled, this.#terms) / REPORTS_PER_LEASE, now)
    )
  }

  /** Takes the charge directly. Returns the result of `leased` if an owner has leased units of the key. */
  take<T>(
    charge: Charge,
    moment: Moment | undefined,
    now: number,
    leased: () => Promise<T>,
  ): Promise<SoleDecision | T> {
    const deadlineAt = moment?.deadlineAt ?? now + leaseMsOf(charge.counter.compiled, this.#terms)
    return this.#take(charge, deadlineAt).catch((error) => {
      if (error?.code === LEASED) return leased()
      throw error
    })
  }
}
