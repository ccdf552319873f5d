import type { Charge, Moment } from '../contracts.ts'
import type { SourcedDecision } from '../decision/sourced-decision.ts'
import { type LeaseTerms, leaseMsOf, TELLS } from './lease-ledger.ts'
import { RecentKeys } from './recent-keys.ts'

/**
 * Takes one enforced charge of a key that nobody has on lease, charged at once. Where somebody has, it takes nothing and
 * rejects with an error of this code.
 */
export type TakeUnleased = (charge: Charge, deadlineAt: number) => Promise<SourcedDecision>
const LEASED = 'LEASED'

/**
 * A key is leased when it is seen again before its lease would have been told of: until then a lease would cost two calls
 * where a take costs one.
 */
export class UnleasedTakes {
  readonly #take: TakeUnleased
  readonly #terms: LeaseTerms
  readonly #recent: RecentKeys = new RecentKeys()

  constructor(take: TakeUnleased, terms: LeaseTerms) {
    this.#take = take
    this.#terms = terms
  }

  /** Whether a key that has no lease needs none for this charge. */
  suits(charge: Charge, now: number): boolean {
    // what the caller knows must reach the ledger
    return !charge.known && !this.#recent.note(charge, leaseMsOf(charge.counter.compiled, this.#terms) / TELLS, now)
  }

  /** `leased` takes where somebody has units of the key on lease. */
  take<T>(
    charge: Charge,
    moment: Moment | undefined,
    now: number,
    leased: () => Promise<T>,
  ): Promise<SourcedDecision | T> {
    const deadlineAt = moment?.deadlineAt ?? now + leaseMsOf(charge.counter.compiled, this.#terms)
    return this.#take(charge, deadlineAt).catch((error) => {
      if (error?.code === LEASED) return leased()
      throw error
    })
  }
}
