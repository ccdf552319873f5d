import type { Charge, Moment } from '../contracts.ts'
import type { SourcedDecision } from '../decision/sourced-decision.ts'
import { type LeaseTerms, leaseMsOf, TELLS } from './lease-ledger.ts'
import { RecentKeys } from './recent-keys.ts'

/**
 * Takes one enforced charge of a key without leases, charged at once. If an owner has leased units of the key, it
 * takes nothing and rejects with an error with this code.
 */
export type TakeUnleased = (charge: Charge, deadlineAt: number) => Promise<SourcedDecision>
const LEASED = 'LEASED'

/**
 * A key is leased when it is used again before its lease would have been reported. Until then a lease would cost two
 * calls instead of one.
 */
export class UnleasedTakes {
  readonly #take: TakeUnleased
  readonly #terms: LeaseTerms
  readonly #recent: RecentKeys = new RecentKeys()

  constructor(take: TakeUnleased, terms: LeaseTerms) {
    this.#take = take
    this.#terms = terms
  }

  /** Whether a key without a lease needs none for this charge. */
  suits(charge: Charge, now: number): boolean {
    // the ledger must receive what the caller knows
    return !charge.known && !this.#recent.note(charge, leaseMsOf(charge.counter.compiled, this.#terms) / TELLS, now)
  }

  /** `leased` is called if an owner has leased units of the key. */
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
